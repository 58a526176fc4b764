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
