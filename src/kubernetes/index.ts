/**
 * One API server: transport, discovery, typed errors. Knows nothing about federation.
 *
 * **Guarantees.** Objects are plain JSON and come back as they went: unknown fields stay, integers beyond 2^53 arrive as
 * bigint and leave as digits, text that an apply's YAML parser would change is escaped, half surrogate pairs are refused.
 * A write names its identity and calls its guard right before each sending, with nothing awaited in between. It carries a
 * server time-out of 4 s and is given up after 4.5 s, so that renew deadline (10 s) + write < lease (15 s). Redirects are
 * never followed, certificates always verified, kubeconfigs read by an allow-list.
 *
 * Lists and watches are decoded object by object while they come, each through the caller's transform, on request only
 * their metadata. What is kept is all that is held, and the event loop is given back every 8 ms, whoever else decodes. A
 * list is answered whole or not at all.
 *
 * **On failure** every method rejects with a class of `api-errors.ts`, told apart by status, reason and causes. "Absent"
 * is only said when the server said so: `get` answers `undefined` for a Status about that very object, and
 * `KindNotFoundError` means that discovery was read and does not list the kind. What could not be seen (a redirect, a
 * proxy's 404, a stale group in discovery) is an error of another class. Before sending, `UnsendableError` refuses what
 * would do something else than asked. Of what a server says about a Secret, only reason and paths of fields become part of
 * an error: it may quote the data. Not repeated here: writes, except once after a 401 with other credentials, and twice
 * after a 429 that asks for at most 5 s. Reads are sent again once when a kept connection turns out to be closed, and up to
 * ten times when the server says when to come back (429, 5xx) and that is within the time that the call has.
 *
 * **Connections.** Requests and lists have an HTTP/1.1 socket each while they last, watches share HTTP/2 connections
 * (decision 11). A connection that is dead without a word is noticed within 45 s by watches, and by requests at their first
 * time-out. A server that says goodbye has its watches moved within 5 s. Where a connection comes from a source, other
 * credentials are used by the next request, and watches end within 2 s as if the server had ended them: whoever reads them
 * goes on from the last version. A 401 asks the source once for all who got it; credentials that stay refused are tried
 * again after 1 s, later 30 s.
 *
 * **Budget.** Each client takes a bounded part of its server: places, of which lists and watches leave some to reads,
 * and these to writes and leases; a rate; and nothing but one call to see how it is after the pause that a 429 asks for
 * (leases have a pause of their own). A call waits for its turn no longer than it may take. What one server asks for holds
 * for no other.
 *
 * **Numbers.** 10 s for a read, 30 s until a list begins and between its pieces, 60 s for a page of it (an API server
 * itself gives up then), 32 requests at a time and 1,000 a second per cluster unless told otherwise (watches count while
 * they are opened), 10 s for a connection with TLS, 16 MiB for an object or an event (etcd holds 1.5 MiB, which JSON's
 * escapes make up to six times as long), 256 MiB for a list.
 *
 * Commands and ports of pods go over WebSockets (`pods.ts`), each on a connection of its own and outside the budget once it
 * is open. What a command says beyond 1 MiB is read and thrown away; a stream that nobody reads stops the other side. A
 * connection that is silent for 60 s, pings included, is given up.
 *
 * ```
 *  kubernetes-client ─┬▶ object-reads, object-writes, discovery ─┬▶ requests/ ─▶ transport/ ─▶ the API server
 *                     └▶ pods/ ──────────────────────────────────┘
 * ```
 *
 * `connection/` says where the server is and who we are, `requests/` as whom, how many at a time and how often. `transport/`
 * alone knows of sockets, but for what a pod's WebSocket carries. `decoding/` makes objects of what comes.
 *
 * @module
 */
export * from './api-errors.ts';
export * from './client-options.ts';
export type { Connection, ConnectionSource, TokenProvider } from './connection/connection.ts';
export * from './core-kinds.ts';
export * from './identity.ts';
export * from './connection/in-cluster-connection.ts';
export * from './connection/kubeconfig.ts';
export * from './kubernetes-client.ts';
export type { ExecRequest, ExecResult, TerminalSize } from './pods/pod-exec.ts';
export type { PodReference, Pods } from './pods/pods.ts';
export { DEFAULT_LIMITS } from './requests/request-budget.ts';
export type { RequestLimits } from './requests/request-budget.ts';
export * from './resource.ts';
export * from './unsendable-error.ts';
export * from './connection/user-kubeconfig.ts';
export * from './watch-event.ts';
