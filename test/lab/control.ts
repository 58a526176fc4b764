import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { LabControlAddress } from './description.ts';
import { freePort } from './ports.ts';
import type { Service } from './service.ts';

/** What can be done to a service: end it politely or at once, start it again, freeze it and let it go on. */
export type ServiceAction = 'stop' | 'kill' | 'start' | 'freeze' | 'thaw';

export interface ServiceState {
  readonly name: string;
  readonly running: boolean;
  readonly processId?: number;
}

const actions: Readonly<Record<ServiceAction, (service: Service) => Promise<void>>> = {
  stop: async (service) => service.stop(),
  kill: async (service) => service.kill(),
  start: async (service) => service.start(),
  freeze: async (service) => service.signal('SIGSTOP'),
  thaw: async (service) => service.signal('SIGCONT'),
};

/** Lets other processes, for example the workers that run tests, make the lab's services fail. */
export class ControlServer {
  readonly address: LabControlAddress;
  readonly #server: Server;

  private constructor(address: LabControlAddress, server: Server) {
    this.address = address;
    this.#server = server;
  }

  static async start(services: readonly Service[]): Promise<ControlServer> {
    const port = await freePort();
    const address = { url: `http://127.0.0.1:${port}`, token: randomBytes(16).toString('hex') };
    const server = createServer((request, response) => {
      void answer(services, address.token, request, response);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new ControlServer(address, server);
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** The other end of a lab's control server. */
export class LabControl {
  readonly #address: LabControlAddress;

  constructor(address: LabControlAddress) {
    this.#address = address;
  }

  async services(): Promise<readonly ServiceState[]> {
    return JSON.parse(await this.#send('GET', '/services')) as readonly ServiceState[];
  }

  /** Resolves when it is done: after `start`, when the service answers again. Services are named like `eu-1/kwok`. */
  async act(action: ServiceAction, service: string): Promise<void> {
    await this.#send('POST', `/services/${service}?action=${action}`);
  }

  async #send(method: string, path: string): Promise<string> {
    const response = await fetch(`${this.#address.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#address.token}` },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`lab control: ${method} ${path}: ${text}`);
    return text;
  }
}

async function answer(
  services: readonly Service[],
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.headers.authorization !== `Bearer ${token}`) {
    response.writeHead(401).end('a token is needed');
    return;
  }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://lab');
  if (request.method === 'GET') {
    response.end(JSON.stringify(services.map(stateOf)));
    return;
  }
  const service = services.find(({ name }) => pathname === `/services/${name}`);
  const act = actions[searchParams.get('action') as ServiceAction];
  if (service === undefined || act === undefined) {
    response.writeHead(404).end(`no such service or action; services: ${services.map(({ name }) => name).join(', ')}`);
    return;
  }
  try {
    await act(service);
    response.end();
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

function stateOf(service: Service): ServiceState {
  const { name, running, processId } = service;
  return { name, running, ...(processId !== undefined && { processId }) };
}
