import type { IncomingMessage } from 'node:http';

import { GitError, type GitErrorReason } from './git-error.ts';

/** OpenSSL's and Node's names for a certificate that did not verify. */
const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_)/;

const STATUS: Readonly<Record<number, readonly [GitErrorReason, string]>> = {
  // Azure DevOps shows its sign-in page with 203.
  203: ['AuthenticationFailed', 'the Git server refuses the credentials'],
  401: ['AuthenticationFailed', 'the Git server refuses the credentials'],
  403: ['AuthenticationFailed', 'the Git server refuses the credentials'],
  404: ['NotGit', 'there is no repository at this URL, or the credentials may not see it'],
  410: ['NotGit', 'there is no repository at this URL any more'],
};
const REDIRECT = ['InvalidSource', 'the URL redirects; write the one it leads to'] as const;
const OTHER = ['Unreachable', 'the Git server does not give the repository'] as const;

/** The reason behind an answer that is not 200. Its body is not looked at: it may repeat what we sent. */
export function statusError({ statusCode = 0, headers }: IncomingMessage): GitError {
  const after = Number(headers['retry-after']);
  const retryAfterSeconds = Number.isFinite(after) && after > 0 ? after : undefined;
  const [reason, message] = STATUS[statusCode] ?? (statusCode >= 300 && statusCode < 400 ? REDIRECT : OTHER);
  return new GitError(reason, `${message} (HTTP ${statusCode})`, { retryAfterSeconds });
}

/** Anything that a request can fail with, as a {@link GitError}. */
export function transportError(error: unknown, { url, signal }: { url: string; signal: AbortSignal }): GitError {
  if (signal.aborted) return new GitError('Timeout', 'the Git server did not answer in time', { cause: error });
  if (error instanceof GitError) return error;
  const { host } = new URL(url);
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  if (CERTIFICATE.test(code)) {
    return new GitError('UntrustedCertificate', `the certificate of ${host} is not trusted: ${code}`, { cause: error });
  }
  return new GitError('Unreachable', `${host} cannot be reached: ${code}`, { cause: error });
}
