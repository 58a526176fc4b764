import type { Pool } from 'undici';
import { apiVersionOf, systemClock } from '../../src/kernel/index.ts';
import type { Random } from '../../src/kernel/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import { barePool } from '../informers/population.ts';
import { pick } from './random.ts';
import { CONFIG_MAP, DEPLOYMENT, NAMESPACES, SECRET, SERVICE_ACCOUNT, pathOf } from './scopes.ts';
import type { SoakKind } from './scopes.ts';
import type { Versions } from './view.ts';

const KINDS: readonly SoakKind[] = [CONFIG_MAP, SECRET, SERVICE_ACCOUNT, DEPLOYMENT];
/** So many names per kind and namespace: most exist at any time. */
const NAMES = 100;
const PAUSE = 20;
/** What happens to an object that exists; the rest are changes. */
const DELETIONS = 0.2;
/** Deletions after which the name is taken again at once: another object for whoever looks away a moment. */
const REPLACEMENTS = 0.5;

/** Objects that are created and then left alone for the rest of the round: who misses the one event never hears again. */
export const ONCE = 'once-';
const ONCE_SHARE = 0.06;
const CLEARING_SHARE = 0.12;

/** How often the writer did what. */
export type Writes = Record<'create' | 'change' | 'delete' | 'failed', number>;

/** Creates, changes and deletes objects, straight at the API server, with a client that is none of what is tried. */
export class Writer {
  readonly writes: Writes = { create: 0, change: 0, delete: 0, failed: 0 };
  readonly #pool: Pool;
  readonly #random: Random;
  /** Paths of objects that are left alone, and of those that have been for a round. */
  readonly #left: string[] = [];
  readonly #old: string[] = [];
  #number = 0;
  #isWriting = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(connection: Connection, random: Random) {
    this.#pool = barePool(connection, 4);
    this.#random = random;
  }

  async prepare(): Promise<void> {
    for (const name of NAMESPACES) {
      await this.#send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    for (const kind of KINDS) {
      for (const namespace of NAMESPACES) {
        for (let index = 0; index < NAMES; index += 1) await this.#create(kind, namespace, `object-${index}`);
      }
    }
  }

  goOn(): void {
    this.#old.push(...this.#left.splice(0));
    this.#isWriting = true;
    this.#writing = this.#write();
  }

  async rest(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.rest();
    await this.#pool.destroy();
  }

  /** What the server has, from its storage; `query` selects. */
  async list(path: string, query: Readonly<Record<string, string>>): Promise<Versions> {
    const parameters = new URLSearchParams(query).toString();
    const answer = await this.#pool.request({ method: 'GET', path: `${path}?${parameters}` });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${text}`);
    const { items } = JSON.parse(text) as {
      items: readonly { metadata: { namespace: string; name: string; uid: string; resourceVersion: string } }[];
    };
    return Object.fromEntries(
      items.map(({ metadata: { namespace, name, uid, resourceVersion } }) => [
        `${namespace}/${name}`,
        `${uid}@${resourceVersion}`,
      ]),
    );
  }

  async #write(): Promise<void> {
    while (this.#isWriting) {
      try {
        await this.#writeOne();
      } catch {
        // The API server is being restarted. What was meant to happen need not: the end compares with what did.
        this.writes.failed += 1;
        await systemClock.sleep(200);
      }
      await systemClock.sleep(PAUSE * this.#random());
    }
  }

  async #writeOne(): Promise<void> {
    const kind = pick(this.#random, KINDS);
    const namespace = pick(this.#random, NAMESPACES);
    const choice = this.#random();
    if (choice < ONCE_SHARE) await this.#leave(kind, namespace);
    else if (choice < ONCE_SHARE + CLEARING_SHARE) await this.#clear();
    else await this.#touch(kind, namespace, `object-${Math.floor(this.#random() * NAMES)}`);
  }

  async #leave(kind: SoakKind, namespace: string): Promise<void> {
    this.#number += 1;
    const name = `${ONCE}${this.#number}`;
    this.#left.push(`${pathOf(kind, namespace)}/${name}`);
    await this.#create(kind, namespace, name);
  }

  async #clear(): Promise<void> {
    const path = this.#old.shift();
    if (path !== undefined && (await this.#send('DELETE', path)) < 300) this.writes.delete += 1;
  }

  async #touch(kind: SoakKind, namespace: string, name: string): Promise<void> {
    if (await this.#create(kind, namespace, name)) return;
    const path = `${pathOf(kind, namespace)}/${name}`;
    if (this.#random() >= DELETIONS) {
      const patch = { metadata: { labels: { half: pick(this.#random, ['left', 'right']), turn: this.#turn() } } };
      if ((await this.#send('PATCH', path, patch)) < 300) this.writes.change += 1;
      return;
    }
    if ((await this.#send('DELETE', path)) < 300) this.writes.delete += 1;
    if (this.#random() < REPLACEMENTS) await this.#create(kind, namespace, name);
  }

  /** @returns whether there was none of that name */
  async #create(kind: SoakKind, namespace: string, name: string): Promise<boolean> {
    const labels = { half: pick(this.#random, ['left', 'right']), turn: this.#turn() };
    const object = {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { namespace, name, labels },
      ...(kind === DEPLOYMENT && deploymentFields(name)),
    };
    const status = await this.#send('POST', pathOf(kind, namespace), object);
    if (status === 409) return false;
    if (status !== 201) throw new Error(`creating a ${kind.kind} is answered ${status}`);
    this.writes.create += 1;
    return true;
  }

  #turn(): string {
    return String(Math.floor(this.#random() * 1e9));
  }

  async #send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<number> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await this.#pool.request({
      method,
      path,
      headers: { 'content-type': type },
      body: body === undefined ? null : JSON.stringify(body),
    });
    await answer.body.dump();
    return answer.statusCode;
  }
}

function deploymentFields(name: string): object {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'example.com/app' }] } };
  return { spec: { replicas: 0, selector: { matchLabels: labels }, template } };
}
