/* The host's end of the protocol, as a test drives it: one agent process and one connection at a time. */
#pragma once

#include "../fields.h"
#include "../port.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WINDOW (64 * 1024)
#define RUN_LIMIT 4200
#define PATIENCE_MS 60000 /* of a wait; the machine may be busy */

/* One stream, from OPEN to RESULT or RESET. */
struct run {
    uint32_t stream;
    bool holds_credit; /* the test raises the credit itself */
    uint8_t *out[2];
    size_t length[2], capacity[2]; /* received */
    uint64_t offset[2];            /* where it began */
    uint64_t credit[2];            /* told to the agent */
    bool ended[2];
    uint64_t input_credit, input_credit_frames;
    bool done, has[TAG_LIMIT];
    uint64_t number[TAG_LIMIT];
    char code[64], message[256]; /* of a RESET */
    uint8_t *answer;             /* the fields of RESULT */
    size_t answer_length;
};

struct welcome {
    uint64_t version, window;
    uint8_t generation[ID_LENGTH];
    unsigned capabilities;
    char agent_version[32], boot_id[64], code[64], message[256];
};

extern char scratch[64];         /* a directory of this test */
extern struct welcome welcome;   /* of the latest connection */
extern uint64_t pongs;

/* Fails the test at hand, with a story, by jumping out of it. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define CHECK(condition) ((condition) ? (void)0 : fail("%s:%d: %s", __FILE__, __LINE__, #condition))

uint64_t test_random(void);
uint64_t test_now_ms(void);

void agent_start(const char *program);
void agent_end(void);
pid_t agent_pid(void);

/* A connection of a generation (all bytes the same); a copy has a hostname and a machine id. Returns once WELCOME
   is in `welcome`. Forgets all runs. */
void host_connect(uint8_t generation, const char *hostname, const char *machine_id);
void host_connect_again(void); /* the generation of before */

void host_send_raw(const void *bytes, size_t length);
size_t frame_write(uint8_t *at, enum kind kind, uint8_t channel, uint8_t flags, uint32_t stream, const void *payload,
                   size_t length);
void host_send(enum kind kind, uint8_t channel, uint8_t flags, uint32_t stream, const void *payload, size_t length);
void host_send_offset(enum kind kind, uint8_t channel, struct run *run, uint64_t offset);
void host_send_data(struct run *run, uint64_t offset, const void *bytes, size_t length);
size_t preamble_write(uint8_t *at, const uint8_t nonce[NONCE_LENGTH]);

/* Opens a stream with the fields given; cut into frames where they are long. */
struct run *host_open(const uint8_t *fields, size_t length);
void host_begin(void); /* a stream whose request does not go on */
struct run *host_operation(const char *name);
/* exec with the time limit in milliseconds (0: none) and the output limit. The id is a number. */
struct run *host_exec(uint64_t id, const char *command, uint64_t time_limit, uint64_t output_limit);
struct run *host_attach(uint64_t id, uint64_t out, uint64_t err);
uint8_t *put_exec_id(uint8_t *at, uint64_t id);

void host_input(struct run *run, const void *bytes, size_t length); /* all of it and END, within the credit */
/* The same in parts of random lengths, without END. */
void host_input_parts(struct run *run, const void *bytes, size_t length);
void host_input_end(struct run *run, uint64_t length);
void host_credit(struct run *run, unsigned which, uint64_t credit);
bool host_step(int timeout_ms); /* takes one frame; false when none came */
void host_finish(struct run *run);
void host_ping(void); /* and waits for the answer */
