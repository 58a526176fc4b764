import type { Cancel } from '../../kernel/index.ts';

/** Answers the bearer token to use now. Asked before every request, so it has to answer from memory mostly. */
export type TokenProvider = () => string | Promise<string>;

/** How to reach one API server. Everything is content (PEM, token), nothing is a path or a command. */
export interface Connection {
  /** `https://host:port`, with a path when the API server stands behind one. */
  readonly server: string;
  /** Certificates (PEM) that the server's chain must end in; the system's roots when absent. */
  readonly caData?: string;
  /** Bearer token, or where to take it from when it is renewed while the client lives. */
  readonly token?: string | TokenProvider;
  /** Client certificate chain (PEM), together with {@link clientKey}. */
  readonly clientCertificate?: string;
  readonly clientKey?: string;
}

/** A connection that changes while its client lives: a renewed token, a rotated CA or client certificate. */
export interface ConnectionSource {
  /** The connection to use now, from memory. The same object as long as nothing changed. */
  current(): Connection;
  /**
   * Called when the server answered 401: reads the credentials anew, where they come from. Several calls at a time may
   * wait for one reading. {@link current} then answers the new ones, or the old when there are none.
   */
  refresh?(): Promise<void>;
  /** Calls back whenever {@link current} answers another connection than before. */
  onChange?(callback: () => void): Cancel;
}

/** A source of what is given, be it one that never changes. */
export function toConnectionSource(connection: Connection | ConnectionSource): ConnectionSource {
  return 'current' in connection ? connection : { current: () => connection };
}
