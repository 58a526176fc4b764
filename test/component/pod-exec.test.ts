import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { LeaseLostError, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import {
  ApiError,
  BadRequestError,
  ForbiddenError,
  KubernetesClient,
  NotFoundError,
  UnreachableError,
  UnsendableError,
} from '../../src/kubernetes/index.ts';
import type { ExecRequest, PodReference, TerminalSize } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from '../support/lab.ts';
import { createReachablePod } from '../support/reachable-pod.ts';
import { serviceAccountWith } from '../support/service-account.ts';

// The nodes of given clusters are whatever they are; those of the lab run a command of a pod as a process of this machine.
const isGiven = process.env['ATOLL_LAB_KUBECONFIGS'] !== undefined;
const cluster = 'eu-1';

describe.skipIf(isGiven)('a command in a pod', () => {
  let pod: PodReference;

  beforeAll(async () => {
    pod = await createReachablePod({ cluster });
  });

  const exec = (request: Partial<ExecRequest> & Pick<ExecRequest, 'command'>, write = asTester) =>
    adminClient(cluster).pods.exec(pod, { container: 'main', ...request }, write);
  const shell = (script: string, request: Partial<ExecRequest> = {}) =>
    exec({ command: ['sh', '-c', script], ...request });

  it('answers with what it says on both streams, apart, and with exit code 0', async () => {
    const { exitCode, stdout, stderr, isCut } = await shell('echo out; echo err >&2');
    expect([exitCode, String(stdout), String(stderr), isCut]).toEqual([0, 'out\n', 'err\n', false]);
  });

  it('answers with the exit code of a command that fails, which is no error of the call', async () => {
    const { exitCode, stdout } = await shell('echo before; exit 3');
    expect([exitCode, String(stdout)]).toEqual([3, 'before\n']);
  });

  it('gets each word of the command as it is, with no shell in between', async () => {
    const { stdout } = await exec({ command: ['printf', '%s|', 'a b', '$HOME', '&c=d', '', 'ü'] });
    expect(String(stdout)).toBe('a b|$HOME|&c=d||ü|');
  });

  it('reads its standard input to the end', async () => {
    const { exitCode, stdout } = await exec({ command: ['wc', '-c'], stdin: 'x'.repeat(100_000) });
    expect([exitCode, String(stdout).trim()]).toEqual([0, '100000']);
  });

  it('sees the end of a standard input that is empty', async () => {
    const { stdout } = await shell('cat; echo end', { stdin: '' });
    expect(String(stdout)).toBe('end\n');
  });

  it('is fed from a stream, bytes as they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 3 * 256 }, (_, index) => index % 256));
    const { stdout } = await exec({
      command: ['cat'],
      stdin: Readable.from([bytes.subarray(0, 5), bytes.subarray(5)]),
    });
    expect(stdout.equals(bytes)).toBe(true);
  });

  it('may end without having read its input', async () => {
    const unread = Readable.from(
      (async function* slow(): AsyncGenerator<Buffer, void> {
        yield Buffer.from('unread');
        await new Promise(() => undefined);
      })(),
    );
    await expect(exec({ command: ['true'], stdin: unread })).resolves.toMatchObject({ exitCode: 0 });
  });

  it('fails with the error of the stream that it was to be fed from', async () => {
    const broken = Readable.from(
      (async function* source(): AsyncGenerator<Buffer, void> {
        yield Buffer.from('some');
        throw new Error('the source broke');
      })(),
    );
    await expect(exec({ command: ['cat'], stdin: broken })).rejects.toThrow('the source broke');
  });

  it('runs on a terminal of the asked size, which may change', async () => {
    const flag = join(tmpdir(), uniqueName('atoll-test'));
    const until = (size: string): string => `until [ "$(stty size)" = "${size}" ]; do sleep 0.1; done`;
    async function* sizes(): AsyncGenerator<TerminalSize, void> {
      await shell(`until [ -e ${flag} ]; do sleep 0.1; done; rm ${flag}`);
      yield { width: 80, height: 24 };
    }
    // KWOK may lose what a command on a terminal says in its last moment.
    const result = shell(`${until('33 77')}; echo first; touch ${flag}; ${until('24 80')}; echo second; sleep 0.5`, {
      terminal: { size: { width: 77, height: 33 }, sizes: sizes() },
    });
    expect(String((await result).stdout)).toBe('first\r\nsecond\r\n');
  });

  it('says more than is kept: the rest is thrown away, and the exit code still comes', async () => {
    const { exitCode, stdout, stderr, isCut } = await shell('head -c 5000000 /dev/zero; echo done >&2; exit 4', {
      maxOutputBytes: 1000,
    });
    expect([exitCode, stdout.length, String(stderr), isCut]).toEqual([4, 1000, 'done\n', true]);
  });

  it('is given up when it takes longer than it may', async () => {
    const failure = shell('sleep 60', { timeout: 500 });
    await expect(failure).rejects.toThrow(UnreachableError);
    await expect(failure).rejects.toMatchObject({ code: 'TIMEOUT' });
  });

  it('is given up when the caller does, with the caller’s reason', async () => {
    const controller = new AbortController();
    const failure = exec({ command: ['sleep', '60'] }, { ...asTester, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('not wanted any longer')), 300);
    await expect(failure).rejects.toThrow('not wanted any longer');
  });

  it('runs beside another', async () => {
    const answers = await Promise.all([shell('sleep 0.2; echo a'), shell('echo b; exit 7')]);
    expect(answers.map(({ exitCode, stdout }) => [exitCode, String(stdout)])).toEqual([
      [0, 'a\n'],
      [7, 'b\n'],
    ]);
  });

  it('does not start when the guard forbids the write', async () => {
    const guard = (): void => {
      throw new LeaseLostError('lost');
    };
    await expect(exec({ command: ['true'] }, { ...asTester, guard })).rejects.toThrow(LeaseLostError);
  });

  describe('that cannot be run', () => {
    it('in a container that the pod does not have: a bad request', async () => {
      const failure = exec({ command: ['true'], container: 'other' });
      await expect(failure).rejects.toThrow(BadRequestError);
      await expect(failure).rejects.toThrow(`exec in Pod ${pod.namespace}/${pod.name}: container other is not valid`);
    });

    it('in a container where the node runs nothing: the node’s error', async () => {
      const failure = exec({ command: ['true'], container: 'closed' });
      await expect(failure).rejects.toThrow(ApiError);
      await expect(failure).rejects.toMatchObject({
        status: 500,
        message: expect.stringContaining('closed') as string,
      });
    });

    it('because there is no such program: the node’s error', async () => {
      await expect(exec({ command: ['no-such-program'] })).rejects.toThrow('no-such-program');
    });

    it('in a pod that is not there: not found', async () => {
      const namespace = await createNamespace(cluster);
      const failure = adminClient(cluster).pods.exec({ namespace, name: 'none' }, { command: ['true'] }, asTester);
      await expect(failure).rejects.toThrow(NotFoundError);
    });

    it('because there is none: nothing is sent', async () => {
      await expect(exec({ command: [] })).rejects.toThrow(UnsendableError);
    });

    it('as somebody who may not: forbidden, for a token and for an identity', async () => {
      const account = await serviceAccountWith(cluster, []);
      const stranger = new KubernetesClient({
        cluster,
        connection: account.connection,
        clock: systemClock,
        random: Math.random,
        logger: silentLogger,
        metrics: noMetrics,
      });
      const request = { command: ['true'], container: 'main' };
      await expect(stranger.pods.exec(pod, request, asTester)).rejects.toThrow(ForbiddenError);
      const identity = { kind: 'serviceAccount', namespace: pod.namespace, name: 'default' } as const;
      await expect(exec(request, { ...asTester, identity })).rejects.toThrow(
        `system:serviceaccount:${pod.namespace}:default`,
      );
      await stranger.close();
      await account.remove();
    });

    it('because the server is not there: unreachable', async () => {
      const client = new KubernetesClient({
        cluster,
        connection: { server: 'https://127.0.0.1:1' },
        clock: systemClock,
        random: Math.random,
        logger: silentLogger,
        metrics: noMetrics,
      });
      await expect(client.pods.exec(pod, { command: ['true'] }, asTester)).rejects.toMatchObject({
        code: 'ECONNREFUSED',
      });
      await client.close();
    });
  });

  it('ends when the client is closed', async () => {
    const account = await serviceAccountWith(cluster, [
      { apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] },
    ]);
    const client = new KubernetesClient({
      cluster,
      connection: account.connection,
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const request = { command: ['sleep', '60'], container: 'main', timeout: 120_000 };
    const failure = client.pods.exec(pod, request, asTester);
    const isOver = failure.then(
      () => true,
      (error: unknown) => error,
    );
    await eventually(async () => (await shell('pgrep -fc "^sleep 60$"')).exitCode === 0);
    await client.close();
    await expect(isOver).resolves.toMatchObject({ name: 'UnreachableError', code: 'ECONNRESET' });
    await account.remove();
  });
});
