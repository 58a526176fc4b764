import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { KeyPair } from './certificates.ts';

interface Body {
  readonly type: 'application/json' | 'application/yaml';
  readonly text: string;
}

/** The few requests that the lab itself makes, independent of the client that it is there to test. */
export class ApiServerRequests {
  readonly #server: string;
  readonly #agent: Agent;

  constructor(server: string, ca: string, administrator: KeyPair) {
    this.#server = server;
    this.#agent = new Agent({ ca, cert: administrator.certificate, key: administrator.key, keepAlive: true });
  }

  async get(path: string): Promise<string> {
    return this.#send('GET', path);
  }

  /** Creates an object; one of that name that exists already is left as it is. */
  async create(path: string, object: Record<string, unknown>): Promise<void> {
    await this.#send('POST', path, { type: 'application/json', text: JSON.stringify(object) }, [409]);
  }

  /** The same of an object that is written in YAML. */
  async createFromYaml(path: string, yaml: string): Promise<void> {
    await this.#send('POST', path, { type: 'application/yaml', text: yaml }, [409]);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(method: string, path: string, body?: Body, accepted: readonly number[] = []): Promise<string> {
    const outgoing = request(`${this.#server}${path}`, {
      method,
      agent: this.#agent,
      timeout: 5_000,
      headers: { 'content-type': body?.type ?? 'application/json', accept: 'application/json' },
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path}: no answer within 5 s`)));
    outgoing.end(body?.text);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const answer = await text(response);
    const status = response.statusCode ?? 0;
    if (status >= 300 && !accepted.includes(status)) throw new Error(`${method} ${path}: ${status} ${answer}`);
    return answer;
  }
}
