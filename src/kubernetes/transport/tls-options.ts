import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Connection } from '../connection/connection.ts';

/** How long a connection may take, TLS included: client-go's `TLSHandshakeTimeout`. Milliseconds. */
export const CONNECT_TIMEOUT = 10_000;

/** After how long a silent connection is probed by TCP itself: client-go's value. Milliseconds. */
export const TCP_KEEP_ALIVE = 30_000;

/** Whose certificate is trusted and which one is shown. Certificates are always verified, for the name in the URL. */
export function tlsOptions({
  server,
  caData,
  clientCertificate,
  clientKey,
}: Connection): Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'> {
  const name = hostOf(new URL(server));
  return {
    rejectUnauthorized: true,
    ...(isIP(name) === 0 && { servername: name }),
    ...(caData !== undefined && { ca: caData }),
    ...(clientCertificate !== undefined && { cert: clientCertificate }),
    ...(clientKey !== undefined && { key: clientKey }),
  };
}

/** The host of a URL as sockets want it: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
