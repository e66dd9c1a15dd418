/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of calls that may fail: kind, errno, return value, and the call. Each is listed in
 * meson.build, too; a call that is missing there or here does not link.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "faults.h"

/* A call that returns `failed` and sets errno. */
#define MAY_FAIL(kind, error, failed, type, name, parameters, arguments)                           \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		if (fault(kind, #name)) {                                                          \
			errno = error;                                                             \
			rte_errno = error;                                                         \
			return failed;                                                             \
		}                                                                                  \
		return __real_##name arguments;                                                    \
	}

#define MEMORY(type, name, parameters, arguments)                                                  \
	MAY_FAIL(FAULT_MEMORY, ENOMEM, NULL, type, name, parameters, arguments)

MEMORY(void *, malloc, (size_t bytes), (bytes))
MEMORY(void *, calloc, (size_t n, size_t bytes), (n, bytes))
MEMORY(void *, realloc, (void *old, size_t bytes), (old, bytes))
MEMORY(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
MEMORY(char *, strdup, (const char *text), (text))
MEMORY(char *, strndup, (const char *text, size_t n), (text, n))
MEMORY(FILE *, fmemopen, (void *buffer, size_t n, const char *mode), (buffer, n, mode))
MEMORY(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t functions),
       (cookie, mode, functions))
MAY_FAIL(FAULT_MEMORY, ENOMEM, MAP_FAILED, void *, mmap64,
         (void *at, size_t bytes, int protection, int flags, int fd, off_t offset),
         (at, bytes, protection, flags, fd, offset))

int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(__printf__, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list arguments;
	int n;

	if (fault(FAULT_MEMORY, "asprintf")) {
		errno = ENOMEM;
		return -1;
	}
	va_start(arguments, format);
	n = vasprintf(text, format, arguments);
	va_end(arguments);
	return n;
}

MAY_FAIL(FAULT_MBUF, ENOMEM, NULL, struct rte_mbuf *, rte_pktmbuf_copy,
         (const struct rte_mbuf *mbuf, struct rte_mempool *pool, uint32_t offset, uint32_t n),
         (mbuf, pool, offset, n))

#define WRITE(type, name, parameters, arguments)                                                   \
	MAY_FAIL(FAULT_WRITE, ENOSPC, -1, type, name, parameters, arguments)

WRITE(ssize_t, write, (int fd, const void *bytes, size_t n), (fd, bytes, n))
WRITE(ssize_t, pwrite64, (int fd, const void *bytes, size_t n, off64_t at), (fd, bytes, n, at))
WRITE(ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n))
WRITE(int, rename, (const char *from, const char *to), (from, to))
WRITE(int, mkdir, (const char *path, mode_t mode), (path, mode))

#define SYSTEM(error, type, name, parameters, arguments)                                           \
	MAY_FAIL(FAULT_SYSTEM, error, (type)-1, type, name, parameters, arguments)

SYSTEM(EIO, ssize_t, read, (int fd, void *bytes, size_t n), (fd, bytes, n))
SYSTEM(EIO, ssize_t, pread64, (int fd, void *bytes, size_t n, off64_t at), (fd, bytes, n, at))
SYSTEM(EIO, int, fstat64, (int fd, struct stat64 *stat), (fd, stat))
SYSTEM(EMFILE, int, mkstemp64, (char *path), (path))
SYSTEM(EMFILE, int, mkostemp64, (char *path, int flags), (path, flags))
SYSTEM(EMFILE, int, pipe, (int fds[2]), (fds))
SYSTEM(EMFILE, int, pipe2, (int fds[2], int flags), (fds, flags))
SYSTEM(EAGAIN, pid_t, fork, (void), ())
SYSTEM(EMFILE, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
SYSTEM(EADDRINUSE, int, bind, (int fd, const struct sockaddr *address, socklen_t n),
       (fd, address, n))
SYSTEM(EADDRINUSE, int, listen, (int fd, int n), (fd, n))
SYSTEM(EMFILE, int, accept4, (int fd, struct sockaddr *address, socklen_t *n, int flags),
       (fd, address, n, flags))
SYSTEM(ECONNRESET, ssize_t, recv, (int fd, void *bytes, size_t n, int flags), (fd, bytes, n, flags))
SYSTEM(EPIPE, ssize_t, send, (int fd, const void *bytes, size_t n, int flags),
       (fd, bytes, n, flags))
SYSTEM(ECONNRESET, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags),
       (fd, message, flags))
SYSTEM(EMFILE, int, eventfd, (unsigned count, int flags), (count, flags))
MAY_FAIL(FAULT_SYSTEM, EMFILE, NULL, DIR *, opendir, (const char *path), (path))
MAY_FAIL(FAULT_SYSTEM, 0, EAGAIN, int, pthread_create,
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *),
          void *argument),
         (thread, attributes, start, argument))

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	if (fault(FAULT_SYSTEM, "open")) {
		errno = EMFILE;
		return -1;
	}
	return __real_open64(path, flags, mode);
}

/* ---- the network ---- */

#define NETWORK(error, name, parameters, arguments)                                                \
	MAY_FAIL(FAULT_NETWORK, error, -1, int, name, parameters, arguments)

NETWORK(EPERM, unshare, (int flags), (flags))
NETWORK(EPERM, setns, (int fd, int kind), (fd, kind))
NETWORK(EPERM, mount,
        (const char *source, const char *target, const char *type, unsigned long flags,
         const void *data),
        (source, target, type, flags, data))
NETWORK(EMFILE, socketpair, (int domain, int type, int protocol, int fds[2]),
        (domain, type, protocol, fds))
NETWORK(EMFILE, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))
NETWORK(EMFILE, epoll_create1, (int flags), (flags))
NETWORK(ENOSPC, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event),
        (epoll, what, fd, event))
NETWORK(ENETUNREACH, connect, (int fd, const struct sockaddr *address, socklen_t n),
        (fd, address, n))
NETWORK(ENOBUFS, setsockopt, (int fd, int level, int name, const void *value, socklen_t n),
        (fd, level, name, value, n))
NETWORK(ENOBUFS, getsockopt, (int fd, int level, int name, void *value, socklen_t *n),
        (fd, level, name, value, n))
NETWORK(ENOMEM, getifaddrs, (struct ifaddrs * *list), (list))
NETWORK(ENOBUFS, sendmmsg, (int fd, struct mmsghdr *messages, unsigned n, int flags),
        (fd, messages, n, flags))
MAY_FAIL(FAULT_NETWORK, ENOBUFS, -1, ssize_t, sendmsg,
         (int fd, const struct msghdr *message, int flags), (fd, message, flags))
MAY_FAIL(FAULT_NETWORK, ENODEV, 0, unsigned, if_nametoindex, (const char *name), (name))

int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	if (fault(FAULT_NETWORK, "ioctl")) {
		errno = EPERM;
		return -1;
	}
	return __real_ioctl(fd, request, argument);
}

/* ---- DPDK ---- */

struct rte_ring *__real_rte_ring_create(const char *name, unsigned count, int socket,
                                        unsigned flags);
struct rte_ring *__wrap_rte_ring_create(const char *name, unsigned count, int socket,
                                        unsigned flags);
struct rte_ring *__wrap_rte_ring_create(const char *name, unsigned count, int socket,
                                        unsigned flags)
{
	if (fault(FAULT_DPDK, "rte_ring_create")) {
		rte_errno = ENOMEM;
		return NULL;
	}
	return __real_rte_ring_create(name, fault(FAULT_RING, "rte_ring_create") ? 2 : count,
	                              socket, flags);
}

int __real_rte_eal_init(int argc, char **argv);
int __wrap_rte_eal_init(int argc, char **argv);
int __wrap_rte_eal_init(int argc, char **argv)
{
	int rc;

	if (fault(FAULT_DPDK, "rte_eal_init")) {
		rte_errno = ENOMEM;
		return -1;
	}
	rc = __real_rte_eal_init(argc, argv);
	faults_mempools(); /* the drivers that it has loaded register further ops */
	return rc;
}

#define DPDK_NULL(type, name, parameters, arguments)                                               \
	MAY_FAIL(FAULT_DPDK, ENOMEM, NULL, type, name, parameters, arguments)
#define DPDK(name, parameters, arguments)                                                          \
	MAY_FAIL(FAULT_DPDK, ENOMEM, -ENOMEM, int, name, parameters, arguments)

DPDK_NULL(void *, rte_zmalloc, (const char *type, size_t n, unsigned align), (type, n, align))
DPDK_NULL(struct rte_mempool *, rte_mempool_create_empty,
          (const char *name, unsigned n, unsigned bytes, unsigned cache, unsigned private_bytes,
           int socket, unsigned flags),
          (name, n, bytes, cache, private_bytes, socket, flags))
DPDK_NULL(struct rte_mempool *, rte_pktmbuf_pool_create_by_ops,
          (const char *name, unsigned n, unsigned cache, uint16_t private_bytes, uint16_t room,
           int socket, const char *ops),
          (name, n, cache, private_bytes, room, socket, ops))
DPDK(rte_mempool_set_ops_byname, (struct rte_mempool * pool, const char *name, void *config),
     (pool, name, config))
DPDK(rte_mempool_populate_iova,
     (struct rte_mempool * pool, char *at, rte_iova_t iova, size_t n,
      rte_mempool_memchunk_free_cb_t *release, void *opaque),
     (pool, at, iova, n, release, opaque))
DPDK(rte_dev_probe, (const char *devargs), (devargs))
DPDK(rte_eth_dev_get_port_by_name, (const char *name, uint16_t *port), (name, port))
DPDK(rte_eth_dev_configure,
     (uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf),
     (port, rx, tx, conf))
DPDK(rte_eth_dev_info_get, (uint16_t port, struct rte_eth_dev_info *info), (port, info))
DPDK(rte_eth_dev_adjust_nb_rx_tx_desc, (uint16_t port, uint16_t *rx, uint16_t *tx), (port, rx, tx))
DPDK(rte_eth_rx_queue_setup,
     (uint16_t port, uint16_t queue, uint16_t n, unsigned socket, const struct rte_eth_rxconf *conf,
      struct rte_mempool *pool),
     (port, queue, n, socket, conf, pool))
DPDK(rte_eth_tx_queue_setup,
     (uint16_t port, uint16_t queue, uint16_t n, unsigned socket,
      const struct rte_eth_txconf *conf),
     (port, queue, n, socket, conf))
DPDK(rte_eth_dev_start, (uint16_t port), (port))
DPDK(rte_eth_dev_stop, (uint16_t port), (port))
DPDK(rte_eth_dev_close, (uint16_t port), (port))
DPDK(rte_eth_stats_get, (uint16_t port, struct rte_eth_stats *stats), (port, stats))
DPDK(rte_eth_link_get_nowait, (uint16_t port, struct rte_eth_link *link), (port, link))
DPDK(rte_eth_macaddr_get, (uint16_t port, struct rte_ether_addr *address), (port, address))
DPDK(rte_eth_promiscuous_enable, (uint16_t port), (port))
DPDK(rte_mbuf_dyn_rx_timestamp_register, (int *field, uint64_t *flag), (field, flag))
DPDK(rte_mbuf_dyn_tx_timestamp_register, (int *field, uint64_t *flag), (field, flag))
MAY_FAIL(FAULT_DPDK, ENOMEM, -1, int, rte_eth_from_rings,
         (const char *name, struct rte_ring *const rx[], const unsigned n_rx,
          struct rte_ring *const tx[], const unsigned n_tx, const unsigned socket),
         (name, rx, n_rx, tx, n_tx, socket))
