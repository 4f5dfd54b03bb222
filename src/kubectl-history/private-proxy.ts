import type { ChildProcess } from 'node:child_process';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import type { Kubectl } from './kubectl.ts';
import { toShown } from './shown-text.ts';
import { CommandError } from './usage-error.ts';

/** A proxy to the server with the rights of the user, for a browser that has its address. */
interface PrivateProxy extends AsyncDisposable {
  /** Includes the secret and a final slash. */
  readonly address: string;
  /** Resolves when kubectl ends, with its exit code. */
  readonly ended: Promise<number | null>;
}

/**
 * Protects `kubectl proxy`, which admits all who can connect: other users of the machine, and websites in the user's browser.
 * kubectl listens on a socket in a folder of the user, and this proxy on loopback. It forwards requests below a path that only
 * the printed address has, and only those of its own pages.
 * @throws CommandError
 */
export async function startPrivateProxy(kubectl: Kubectl, port: number): Promise<PrivateProxy> {
  // Only its owner may enter it.
  const folder = await mkdtemp(join(tmpdir(), 'kubectl-history-'));
  const socketPath = join(folder, 'proxy');
  const child = kubectl.start(['proxy', `--unix-socket=${socketPath}`]);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const prefix = `/${randomBytes(16).toString('base64url')}`;
  const server = createServer((incoming, outgoing) => answer(incoming, outgoing, { prefix, socketPath }));
  const stop = async (): Promise<void> => {
    child.kill();
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilItServes(child);
    const { port: own } = await listen(server, port);
    return { address: `http://127.0.0.1:${own}${prefix}/`, ended, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `Starting to serve on /tmp/kubectl-history-x/proxy` */
function untilItServes(child: ChildProcess): Promise<void> {
  let said = '';
  child.stdin?.end();
  return new Promise((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      said += chunk.toString();
      if (/serve on /.test(said)) resolve();
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('error', (error) => reject(new CommandError(`kubectl cannot be run: ${error.message}`)));
    child.once('close', () =>
      reject(new CommandError(`kubectl proxy does not start: ${toShown(said.trim())}`)),
    );
  });
}

function listen(server: Server, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new CommandError(`--port=${port}: ${error.message}`)));
    server.listen(port, '127.0.0.1', () => resolve(server.address() as AddressInfo));
  });
}

interface Way {
  /** The secret, after a slash. */
  readonly prefix: string;
  /** The socket of kubectl proxy. */
  readonly socketPath: string;
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse, way: Way): void {
  const { url = '', headers } = incoming;
  if (!isBelow(url, way.prefix))
    refuse(outgoing, 404, 'The address that kubectl history printed is another one.');
  else if (!isOwnPage(headers)) refuse(outgoing, 403, 'A page of another website may not ask here.');
  else passOn(incoming, outgoing, way);
}

function passOn(incoming: IncomingMessage, outgoing: ServerResponse, { prefix, socketPath }: Way): void {
  const { url = '', method, headers } = incoming;
  const passed = request({
    ...{ socketPath, method, path: url.slice(prefix.length) },
    // kubectl proxy accepts only requests for this host.
    headers: { ...headers, host: 'localhost' },
  });
  passed.once('response', (answered) => {
    const { location } = answered.headers;
    outgoing.writeHead(answered.statusCode ?? 502, {
      ...answered.headers,
      ...(location?.startsWith('/') === true ? { location: `${prefix}${location}` } : {}),
      // Hides the address from linked pages.
      'referrer-policy': 'no-referrer',
    });
    pipeline(answered, outgoing, () => {});
  });
  pipeline(incoming, passed, () => {});
  passed.once('error', (error) => {
    if (outgoing.headersSent) outgoing.destroy();
    else refuse(outgoing, 502, `kubectl proxy cannot be reached: ${error.message}`);
  });
  outgoing.once('close', () => passed.destroy());
}

/** Compares the secret in constant time. */
function isBelow(url: string, prefix: string): boolean {
  const [given, wanted] = [Buffer.from(url.slice(0, prefix.length + 1)), Buffer.from(`${prefix}/`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Whether a request comes from a page of this proxy, or from no page. A page of a pod has another origin, `null`, but knows its
 * own address.
 */
function isOwnPage({ host = '', origin, 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  if (!/^(?:127\.0\.0\.1|localhost):\d+$/.test(host)) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  return site === undefined || site === 'same-origin' || site === 'none';
}

function refuse(outgoing: ServerResponse, code: number, why: string): void {
  outgoing.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(`${why}\n`);
}
