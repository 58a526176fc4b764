import { UnexpectedAnswerError, UnreachableError } from '../api-errors.ts';

/** One HTTP request; the path is relative to the connection's server and bears the query. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds until the answer is complete; of a stream, until it begins, and of a list until each next chunk. */
  readonly timeout: number;
  /** An answer larger than this is refused. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** The beginning of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** The value of a header, by its name in lower case. */
  header(name: string): string | undefined;
}

/** A complete answer. */
export interface Answer extends AnswerHead {
  readonly text: string;
}

/** An answer whose body is still coming when it is 200; any other has been read whole. */
export interface StreamedAnswer extends Answer {
  readonly chunks: AsyncIterable<Buffer>;
}

/** The headers of an answer as both protocols give them, names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export function headOf(status: number, headers: AnswerHeaders): AnswerHead {
  return {
    status,
    header: (name) => {
      const value = headers[name];
      return typeof value === 'string' ? value : value?.[0];
    },
  };
}

/** Whether an answer points elsewhere. A 304 does not: it says that what the client has is still so. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

export function redirectRefused(status: number, request: TransportRequest): UnexpectedAnswerError {
  return new UnexpectedAnswerError(
    `${describeRequest(request)}: answered ${status}; redirects of an API server are not followed`,
    { status },
  );
}

/** The whole body of an answer. @throws UnexpectedAnswerError when it is larger than the request allows */
export async function readText(body: AsyncIterable<Buffer>, request: TransportRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    assertSize(size, request);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}

/** Passes a body on up to the size that the request allows. @throws UnexpectedAnswerError beyond it */
export async function* limited(body: AsyncIterable<Buffer>, request: TransportRequest): AsyncGenerator<Buffer, void> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    assertSize(size, request);
    yield chunk;
  }
}

/** What went wrong below, as the error that callers know; the signal's reason when it was aborted. */
export function translate(error: unknown, request: TransportRequest, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
  if (error instanceof UnexpectedAnswerError || error instanceof UnreachableError) return error;
  const code = codeOf(error);
  const text = error instanceof Error && error.message !== '' ? error.message : (code ?? String(error));
  return new UnreachableError(`${describeRequest(request)}: ${text}`, code, { cause: error });
}

export function describeRequest(request: Pick<TransportRequest, 'method' | 'path'>): string {
  return `${request.method} ${request.path.replace(/\?.*$/s, '')}`;
}

function assertSize(size: number, request: TransportRequest): void {
  if (size <= request.maxBytes) return;
  throw new UnexpectedAnswerError(`${describeRequest(request)}: the answer is larger than ${request.maxBytes} bytes`);
}

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}
