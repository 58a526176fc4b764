import { expect, it } from 'vitest';
import { Ceiling } from './ceiling.ts';

const never = new AbortController().signal;

/** Notes who is in, in the order of coming in. */
function visitors(ceiling: Ceiling): { readonly inside: string[]; readonly come: (name: string) => () => void } {
  const inside: string[] = [];
  return {
    inside,
    come: (name) => {
      const [queue = ''] = name.split('-');
      let leave: () => void = () => undefined;
      void ceiling.enter(queue, never).then((left) => {
        inside.push(name);
        leave = left;
        return undefined;
      });
      return () => leave();
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

it('lets in up to its limit, and the others in their order when a place is free', async () => {
  const { inside, come } = visitors(new Ceiling(2));
  const first = come('a-1');
  come('a-2');
  come('a-3');
  come('a-4');
  await settle();
  expect(inside).toEqual(['a-1', 'a-2']);
  first();
  await settle();
  expect(inside).toEqual(['a-1', 'a-2', 'a-3']);
});

it('never holds back the first run of a queue, so that hanging queues delay no other', async () => {
  const { inside, come } = visitors(new Ceiling(2));
  come('a-1');
  come('a-2');
  come('b-1');
  const second = come('b-2');
  await settle();
  expect(inside).toEqual(['a-1', 'a-2', 'b-1']);
  second();
  await settle();
  expect(inside).toEqual(['a-1', 'a-2', 'b-1']);
});

it('lets somebody behind through whose queue has nothing running any more', async () => {
  const { inside, come } = visitors(new Ceiling(1));
  come('a-1');
  come('a-2');
  const b = come('b-1');
  come('b-2');
  await settle();
  b();
  await settle();
  expect(inside).toEqual(['a-1', 'b-1', 'b-2']);
});

it('forgets who gave up waiting', async () => {
  const ceiling = new Ceiling(1);
  const leave = await ceiling.enter('a', never);
  const giveUp = new AbortController();
  const waiting = ceiling.enter('a', giveUp.signal);
  giveUp.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  leave();
  await expect(ceiling.enter('a', never)).resolves.toBeTypeOf('function');
  await expect(ceiling.enter('a', giveUp.signal)).rejects.toThrow('enough');
});
