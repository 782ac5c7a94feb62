// Traffic for the benches of networks: one static program for guests of any image and for namespaces of the host.
//
//   flow serve PORT                 answers TCP connections one after the other, for ever: takes what comes, sends without end, or closes
//   flow send ADDRESS PORT MS       sends for so long; prints bytes and nanoseconds, until the other end has all of it
//   flow receive ADDRESS PORT MS    receives for so long; prints bytes and nanoseconds
//   flow connect ADDRESS PORT N     connects so often; prints the nanoseconds of each
//   flow knock ADDRESS PORT         sends a datagram each millisecond, for ever
//   flow watch PORT                 prints the monotonic clock, in nanoseconds, when a datagram comes, for ever
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (256 << 10)
#define BACKLOG 64
#define MILLISECOND 1000000

static char block[BLOCK];

static void die(const char *what) {
  fprintf(stderr, "flow: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct sockaddr_in address(const char *host, const char *port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  if (inet_pton(AF_INET, host, &a.sin_addr) != 1) die(host);
  return a;
}

static int opened(int type) {
  int s = socket(AF_INET, type | SOCK_CLOEXEC, 0);
  if (s < 0) die("socket");
  return s;
}

static int listening(int type, const char *port) {
  struct sockaddr_in a = address("0.0.0.0", port);
  int s = opened(type), on = 1;
  setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(s, (struct sockaddr *)&a, sizeof a) < 0) die("bind");
  if (type == SOCK_STREAM && listen(s, BACKLOG) < 0) die("listen");
  return s;
}

static int connected(int type, const char *host, const char *port) {
  struct sockaddr_in a = address(host, port);
  int s = opened(type);
  if (connect(s, (struct sockaddr *)&a, sizeof a) < 0) die("connect");
  return s;
}

static void answer(int s) {
  char wish = 0;
  if (read(s, &wish, 1) != 1) return;
  if (wish == 's') {
    while (read(s, block, sizeof block) > 0) {
    }
    if (write(s, &wish, 1) != 1) return;
  }
  while (wish == 'r' && write(s, block, sizeof block) > 0) {
  }
}

static void serve(const char *port) {
  int l = listening(SOCK_STREAM, port);
  for (;;) {
    int s = accept(l, NULL, NULL);
    if (s < 0) die("accept");
    answer(s);
    close(s);
  }
}

static void tell(int64_t bytes, int64_t time) { printf("%" PRId64 " %" PRId64 "\n", bytes, time); }

static void send_for(int s, int64_t time) {
  int64_t begun = now(), bytes = 0;
  char last;
  if (write(s, "s", 1) != 1) die("write");
  while (now() - begun < time) {
    ssize_t n = write(s, block, sizeof block);
    if (n < 0) die("write");
    bytes += n;
  }
  shutdown(s, SHUT_WR);
  if (read(s, &last, 1) != 1) die("the other end did not take all");
  tell(bytes, now() - begun);
}

static void receive_for(int s, int64_t time) {
  int64_t begun = now(), bytes = 0;
  if (write(s, "r", 1) != 1) die("write");
  while (now() - begun < time) {
    ssize_t n = read(s, block, sizeof block);
    if (n <= 0) die("read");
    bytes += n;
  }
  tell(bytes, now() - begun);
}

// Waits until the other end has closed: then it has nothing to do while the next connection is timed.
static void connect_often(const char *host, const char *port, int count) {
  for (int i = 0; i < count; i++) {
    int64_t begun = now();
    int s = connected(SOCK_STREAM, host, port);
    printf("%" PRId64 "\n", now() - begun);
    shutdown(s, SHUT_WR);
    while (read(s, block, 1) > 0) {
    }
    close(s);
  }
}

// What is refused on the way is no reason to stop.
static void knock(const char *host, const char *port) {
  int s = connected(SOCK_DGRAM, host, port);
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (;;) {
    if (send(s, block, 1, 0) < 0 && errno == EBADF) die("send");
    next.tv_nsec += MILLISECOND;
    if (next.tv_nsec >= 1000 * MILLISECOND) {
      next.tv_nsec -= 1000 * MILLISECOND;
      next.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
}

static void watch(const char *port) {
  int s = listening(SOCK_DGRAM, port);
  while (recv(s, block, sizeof block, 0) >= 0) {
    printf("%" PRId64 "\n", now());
    fflush(stdout);
  }
  die("recv");
}

int main(int argc, char **argv) {
  const char *what = argc > 2 ? argv[1] : "";
  signal(SIGPIPE, SIG_IGN);
  if (!strcmp(what, "serve") && argc == 3) {
    serve(argv[2]);
  } else if (!strcmp(what, "watch") && argc == 3) {
    watch(argv[2]);
  } else if (!strcmp(what, "knock") && argc == 4) {
    knock(argv[2], argv[3]);
  } else if (!strcmp(what, "connect") && argc == 5) {
    connect_often(argv[2], argv[3], atoi(argv[4]));
  } else if (!strcmp(what, "send") && argc == 5) {
    send_for(connected(SOCK_STREAM, argv[2], argv[3]), atoi(argv[4]) * INT64_C(1000000));
  } else if (!strcmp(what, "receive") && argc == 5) {
    receive_for(connected(SOCK_STREAM, argv[2], argv[3]), atoi(argv[4]) * INT64_C(1000000));
  } else {
    fprintf(stderr, "flow: see the top of bench/flow.c\n");
    return 2;
  }
  return 0;
}
