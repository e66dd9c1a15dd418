/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_visitor.h"

#include <stdlib.h>
#include <sys/socket.h>

static void visitor_comes(struct serve_visitors *visitors, struct MHD_Connection *connection,
                          void **context)
{
	const union MHD_ConnectionInfo *info =
	        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct serve_visitor *visitor = calloc(1, sizeof(*visitor));

	*context = visitor;
	if (visitor == NULL || info == NULL)
		return;
	visitor->fd = info->connect_fd;
	visitor->until_ms = visitors->now_ms + SERVE_REQUEST_MS;
	visitor->next = visitors->first;
	visitor->at = &visitors->first;
	if (visitor->next != NULL)
		visitor->next->at = &visitor->next;
	visitors->first = visitor;
}

static void visitor_goes(struct serve_visitor *visitor)
{
	if (visitor == NULL)
		return;
	if (visitor->at != NULL)
		*visitor->at = visitor->next;
	if (visitor->next != NULL)
		visitor->next->at = visitor->at;
	free(visitor);
}

void serve_visitor_notify(void *visitors, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		visitor_comes(visitors, connection, context);
	} else {
		visitor_goes(*context);
		*context = NULL;
	}
}

void serve_visitor_may(struct serve_visitors *visitors, struct MHD_Connection *connection,
                       uint64_t for_ms)
{
	const union MHD_ConnectionInfo *info =
	        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct serve_visitor *visitor = info != NULL ? info->socket_context : NULL;

	if (visitor != NULL)
		visitor->until_ms = for_ms == UINT64_MAX ? UINT64_MAX : visitors->now_ms + for_ms;
}

void serve_visitors_tick(struct serve_visitors *visitors, uint64_t now_ms)
{
	visitors->now_ms = now_ms;
	for (struct serve_visitor *visitor = visitors->first; visitor != NULL;
	     visitor = visitor->next) {
		if (now_ms < visitor->until_ms)
			continue;
		shutdown(visitor->fd, SHUT_RDWR); /* microhttpd sees the end, and closes it */
		visitor->until_ms = UINT64_MAX;
	}
}
