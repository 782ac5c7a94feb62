/* A doubly linked list through a member of its elements; the list itself is a link, empty when it links to itself. */
#pragma once

struct link {
    struct link *previous, *next;
};

static inline void list_init(struct link *list) {
    list->previous = list->next = list;
}

static inline void list_append(struct link *list, struct link *element) {
    element->previous = list->previous;
    element->next = list;
    list->previous->next = element;
    list->previous = element;
}

static inline void list_remove(struct link *element) {
    element->previous->next = element->next;
    element->next->previous = element->previous;
}
