import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { EndableBody } from './endable-body.ts';

/** Resolves with what was read, and with how it ended. */
async function readAll(body: EndableBody): Promise<string> {
  let text = '';
  try {
    for await (const chunk of body) text += String(chunk);
    return `${text} end`;
  } catch (error) {
    return `${text} ${(error as Error).message}`;
  }
}

function streamOf(text: string): Readable {
  const stream = new Readable({ read: () => undefined });
  stream.push(text);
  return stream;
}

test('a body that is ended from here looks as if the server had ended it', async () => {
  const body = new EndableBody(streamOf('event'));
  const reading = readAll(body);
  setImmediate(() => body.end());
  expect(await reading).toBe('event end');
});

test('a body that breaks says so', async () => {
  const stream = streamOf('event');
  const reading = readAll(new EndableBody(stream));
  setImmediate(() => stream.destroy(new Error('broken')));
  expect(await reading).toBe('event broken');
});

test('whoever waits for its end is told in any case', async () => {
  const stream = streamOf('event');
  const body = new EndableBody(stream);
  const { promise, resolve } = Promise.withResolvers<void>();
  body.onClose(resolve);
  body.end();
  await promise;
});
