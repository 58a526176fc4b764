import { AtollError } from '../kernel/index.ts';

/**
 * Why Git did not give a revision. A caller recognises the reason, never the message.
 *
 * `InvalidSource`: the request itself is wrong (URL, branch or path) and trying again cannot help. `AddressRefused`: the
 * host resolves to an address that Atoll does not connect to. `UntrustedCertificate`: TLS did not verify. `InternalError`:
 * the child process died for a reason that is not the repository's.
 */
export type GitErrorReason =
  | 'AddressRefused'
  | 'AuthenticationFailed'
  | 'BranchNotFound'
  | 'Corrupt'
  | 'EmptyRepository'
  | 'InternalError'
  | 'InvalidSource'
  | 'LimitExceeded'
  | 'NotGit'
  | 'PathNotFound'
  | 'Timeout'
  | 'Unreachable'
  | 'UnsupportedContent'
  | 'UntrustedCertificate';

/** What a {@link GitError} carries beside its message. */
export interface GitErrorOptions extends ErrorOptions {
  /** Seconds that the server asked to wait (Retry-After). */
  readonly retryAfterSeconds?: number | undefined;
}

/** A repository could not be polled or read. The message never contains credentials or anything a server sent as a body. */
export class GitError extends AtollError {
  override name = 'GitError';
  readonly reason: GitErrorReason;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: GitErrorReason, message: string, options: GitErrorOptions = {}) {
    super(message, options);
    this.reason = reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
