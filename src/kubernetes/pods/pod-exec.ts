import type { Readable } from 'node:stream';
import { parseExact } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { UnexpectedAnswerError, UnreachableError } from '../api-errors.ts';
import { errorFromFailure } from '../api-status.ts';
import { isFields } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { ENDING_PROTOCOL } from './channel-socket.ts';
import type { ChannelSocket } from './channel-socket.ts';
import { Deadline } from '../transport/deadline.ts';
import type { WriteContext } from '../identity.ts';
import { UnsendableError } from '../unsendable-error.ts';

/** Characters that fit on a terminal. */
export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

/** A command to run in a container. */
export interface ExecRequest {
  /** Program and arguments. No shell takes them apart. */
  readonly command: readonly string[];
  /** The pod's only container, or the one of its annotation `kubectl.kubernetes.io/default-container`, when absent. */
  readonly container?: string;
  /**
   * What the command reads, and then its end. Without it the command has no standard input. A command that ends before it
   * has read a large input may break the connection, and then nobody knows how it ended.
   */
  readonly stdin?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Runs the command on a terminal of this size, which may change. What it says on stderr then comes on stdout. */
  readonly terminal?: { readonly size: TerminalSize; readonly sizes?: AsyncIterable<TerminalSize> };
  /** What is kept of stdout, and of stderr, each. Default 1 MiB. */
  readonly maxOutputBytes?: number;
  /** Milliseconds from the call to the command's end. Default 30 s. */
  readonly timeout?: number;
}

/** How a command ended. */
export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** The command said more than was to be kept; the rest was read and thrown away. */
  readonly isCut: boolean;
}

/** Opens a socket for what a request asks; refusals are thrown. */
export type OpenSocket = (
  query: URLSearchParams,
  channels: readonly number[],
  signal: AbortSignal,
) => Promise<ChannelSocket>;

/** What running a command needs beside the request. */
export interface ExecContext {
  /** "exec in Pod shop/cache-0", the beginning of messages. */
  readonly what: string;
  readonly clock: Clock;
  readonly open: OpenSocket;
  readonly write: WriteContext;
}

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const RESIZE = 4;

const TIMEOUT = 30_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_STATUS_BYTES = 64 * 1024;

/** Runs a command to its end. */
export async function execInPod(request: ExecRequest, context: ExecContext): Promise<ExecResult> {
  const { what, clock, open, write } = context;
  const { timeout: milliseconds = TIMEOUT } = request;
  const query = queryOf(request, what);
  const deadline = new Deadline(clock, { milliseconds, what, signal: write.signal });
  try {
    const socket = await open(query, [STDOUT, STDERR, STATUS], deadline.signal);
    return await converse(socket, request, { what, signal: deadline.signal });
  } finally {
    deadline.cancel();
  }
}

function queryOf({ command, container, stdin, terminal }: ExecRequest, what: string): URLSearchParams {
  if (command.length === 0) throw new UnsendableError(`${what}: there is no command`);
  const query = new URLSearchParams({ stdout: 'true' });
  // The API server refuses stderr beside a terminal, which has one stream only.
  query.set(terminal === undefined ? 'stderr' : 'tty', 'true');
  if (container !== undefined) query.set('container', container);
  if (stdin !== undefined) query.set('stdin', 'true');
  for (const word of command) query.append('command', word);
  return query;
}

async function converse(
  socket: ChannelSocket,
  request: ExecRequest,
  { what, signal }: { readonly what: string; readonly signal: AbortSignal },
): Promise<ExecResult> {
  const { maxOutputBytes = MAX_OUTPUT_BYTES } = request;
  const abort = (): void => socket.abort(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const inputs = [
    ...(request.stdin === undefined ? [] : [feedStdin(socket, request.stdin, what)]),
    ...(request.terminal === undefined ? [] : [feedTerminal(socket, request.terminal)]),
  ];
  try {
    const [exitCode, stdout, stderr] = await Promise.all([
      readExitCode(socket, what),
      collect(socket.reader(STDOUT), maxOutputBytes),
      collect(socket.reader(STDERR), maxOutputBytes),
    ]);
    return { exitCode, stdout: stdout.bytes, stderr: stderr.bytes, isCut: stdout.isCut || stderr.isCut };
  } finally {
    signal.removeEventListener('abort', abort);
    for (const input of inputs) input.stop();
  }
}

/** Something that is sent while the answer is read. A command may end without having read it. */
interface Input {
  stop(): void;
}

function feedStdin(socket: ChannelSocket, stdin: NonNullable<ExecRequest['stdin']>, what: string): Input {
  if (socket.protocol !== ENDING_PROTOCOL) {
    socket.abort(
      new UnexpectedAnswerError(
        `${what}: the API server speaks ${socket.protocol}, in which standard input has no end`,
      ),
    );
  }
  const chunks = typeof stdin === 'string' || stdin instanceof Uint8Array ? [Buffer.from(stdin)] : stdin;
  return feed(socket, chunks, {
    send: (chunk) => socket.send(STDIN, chunk),
    end: () => socket.end(STDIN),
  });
}

function feedTerminal(socket: ChannelSocket, { size, sizes }: NonNullable<ExecRequest['terminal']>): Input {
  return feed(socket, withFirst(size, sizes), {
    send: ({ width, height }) => socket.send(RESIZE, Buffer.from(JSON.stringify({ Width: width, Height: height }))),
    end: async () => undefined,
  });
}

async function* withFirst<Item>(first: Item, others: AsyncIterable<Item> | undefined): AsyncGenerator<Item, void> {
  yield first;
  if (others !== undefined) yield* others;
}

/** Sends one after the other; what fails in the source is the call's error, what fails in the socket its readers tell. */
function feed<Item>(
  socket: ChannelSocket,
  items: Iterable<Item> | AsyncIterable<Item>,
  sending: { readonly send: (item: Item) => Promise<void>; readonly end: () => Promise<void> },
): Input {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isStopped = false;
  const run = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await iterator.next();
      if (isStopped) return;
      await (done === true ? sending.end() : sending.send(value));
      if (done === true) return;
    }
  };
  run().catch((error: unknown) => {
    // Of a connection that broke, its readers tell, after what came before.
    if (!isStopped && !(error instanceof UnreachableError)) socket.abort(error as Error);
  });
  return {
    stop: () => {
      isStopped = true;
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    },
  };
}

/** Reads to the end and keeps the beginning. */
async function collect(reader: Readable, limit: number): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of reader as AsyncIterable<Buffer>) {
    if (size < limit) chunks.push(chunk.subarray(0, limit - size));
    size += chunk.length;
  }
  return { bytes: Buffer.concat(chunks), isCut: size > limit };
}

/** The exit code, from the Status that comes last, after all output: then nothing more is waited for. */
async function readExitCode(socket: ChannelSocket, what: string): Promise<number> {
  let text = '';
  for await (const chunk of socket.reader(STATUS) as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    const status = parseStatus(text);
    if (status !== undefined) {
      socket.finish();
      return exitCodeOf(status, what);
    }
    if (text.length > MAX_STATUS_BYTES) break;
  }
  const said = text === '' ? 'the connection ended without a word about it' : 'what tells it is no Status';
  throw new UnexpectedAnswerError(`${what}: it is not known how the command ended: ${said}`);
}

/** None is a success, and a failure names the code among its causes. @throws ApiError when the command was not run */
function exitCodeOf(status: Fields, what: string): number {
  if (status['status'] === 'Success') return 0;
  const code = typeof status['code'] === 'number' ? status['code'] : 500;
  const error = errorFromFailure({ code, status: { ...status, kind: 'Status' }, text: '' }, { what });
  const exit = error.causes.find(({ reason }) => reason === 'ExitCode')?.message;
  if (status['reason'] === 'NonZeroExitCode' && exit !== undefined && /^\d+$/.test(exit)) return Number(exit);
  throw error;
}

/** The Status, once the text is complete. */
function parseStatus(text: string): Fields | undefined {
  try {
    const status = parseExact(text);
    return isFields(status) ? status : undefined;
  } catch {
    return undefined;
  }
}
