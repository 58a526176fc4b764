import { GitError } from './git-error.ts';

const HEADER = 4;
const PACK_DATA = 1;
const SERVER_ERROR = 3;

/** The pack in the answer to a fetch ({@link https://git-scm.com/docs/protocol-pack side-band-64k}), if there is one. */
export function packOf(answer: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  let ended = false;
  for (const line of packetLines(answer)) {
    ended = line === undefined;
    if (line?.[0] === SERVER_ERROR) throw new GitError('Unreachable', 'the Git server failed while it made the pack');
    if (line?.[0] === PACK_DATA) chunks.push(line.subarray(1));
  }
  if (!ended) throw new GitError('Corrupt', 'the answer of the Git server ends too early');
  return chunks.length === 0 ? undefined : Buffer.concat(chunks);
}

/** The packet lines of an answer; undefined stands for a flush. */
function* packetLines(answer: Buffer): Generator<Buffer | undefined> {
  let position = 0;
  while (position < answer.length) {
    const length = packetLength(answer.subarray(position, position + HEADER));
    if (length > answer.length - position) throw new GitError('Corrupt', 'the answer of the Git server ends too early');
    yield length < HEADER ? undefined : answer.subarray(position + HEADER, position + length);
    position += Math.max(length, HEADER);
  }
}

/** 0 to 2 mark a flush, a section and the end; everything else counts its own four digits. */
function packetLength(header: Buffer): number {
  const text = header.toString('latin1');
  const length = /^[\da-f]{4}$/i.test(text) ? Number.parseInt(text, 16) : Number.NaN;
  if (Number.isNaN(length) || length === 3) throw new GitError('NotGit', 'the server answers something else than Git');
  return length;
}
