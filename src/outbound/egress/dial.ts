import type { Duplex } from 'node:stream';
import { connectToProxy, requestConnection } from './connect-proxy.ts';
import type { EgressConnection } from './egress-config.ts';

/** Opens a connection to a host and a port, neither with brackets. @throws Error */
export type Dial = (host: string, port: number) => Promise<Duplex>;

/** Measures connections. `stage`: whether one failed on the way to the proxy or behind it. */
export interface DialObserver {
  started(way: Way): void;
  opened(way: Way, seconds: number): void;
  failed(way: Way, stage: DialStage): void;
}

interface Way {
  readonly protocol: 'http_connect' | 'grpc';
  readonly transport: 'tcp' | 'uds';
}

type DialStage = 'connect' | 'proxy';

/** Limit for reaching the proxy, and for its answer (Kubernetes: the same for its dialers). */
const DIAL_MS = 30_000;

/** Undefined: directly, as without a configuration. */
export function createDial(
  connection: EgressConnection | undefined,
  observer: DialObserver,
): Dial | undefined {
  switch (connection?.protocol) {
    case undefined:
    case 'Direct':
      return undefined;
    case 'HTTPConnect': {
      const { proxy } = connection;
      const way: Way = { protocol: 'http_connect', transport: proxy.kind };
      const name = proxy.kind === 'uds' ? proxy.socketPath : addressOf(proxy.host, proxy.port);
      return observed(way, observer, {
        connect: (signal) => connectToProxy(proxy, signal),
        proceed: (socket, address, signal) => requestConnection(socket, { proxy: name, address }, signal),
      });
    }
    case 'GRPC': {
      const way: Way = { protocol: 'grpc', transport: 'uds' };
      return observed(way, observer, {
        // Loads gRPC only if it is configured.
        connect: async (signal) => (await import('./tunnel.ts')).openTunnel(connection.socketPath, signal),
        proceed: (tunnel, address, signal) => tunnel.dial(address, signal),
      });
    }
    default:
      return connection satisfies never;
  }
}

/** The two stages of a connection through a proxy. @throws Error */
interface Stages<Proxy> {
  connect(signal: AbortSignal): Promise<Proxy>;
  proceed(proxy: Proxy, address: string, signal: AbortSignal): Promise<Duplex>;
}

function observed<Proxy>(way: Way, observer: DialObserver, { connect, proceed }: Stages<Proxy>): Dial {
  return async (host, port) => {
    const signal = AbortSignal.timeout(DIAL_MS);
    const begunMs = performance.now();
    observer.started(way);
    let stage: DialStage = 'connect';
    try {
      const proxy = await connect(signal);
      stage = 'proxy';
      const stream = await proceed(proxy, addressOf(host, port), signal);
      observer.opened(way, (performance.now() - begunMs) / 1000);
      return stream;
    } catch (error) {
      observer.failed(way, stage);
      throw error;
    }
  };
}

/** The address as in a URL. */
const addressOf = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
