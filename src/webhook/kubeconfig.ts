import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import { asObject } from '../object/config-fields.ts';

/** Where another server is and how this one proves to it who it is. */
export interface RemoteServer {
  readonly url: URL;
  /** PEM. Undefined: the authorities that the system trusts. */
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** The name its certificate must have, when it is not that of the URL. */
  readonly serverName: string | undefined;
  readonly insecure: boolean;
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
}

/** What would change who is called, or as whom, and is not supported: better refused than passed over. */
const UNSUPPORTED_CLUSTER = ['proxy-url'];
const UNSUPPORTED_USER = ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'];

/** The server of a kubeconfig file's current context. Files it names are read too. @throws Error, one line for the operator */
export async function readKubeconfig(path: string): Promise<RemoteServer> {
  try {
    const { value } = parseYamlText(await readFile(path));
    return await toServer(asObject(value), dirname(resolve(path)));
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function toServer(file: JsonObject, folder: string): Promise<RemoteServer> {
  const name = text(file['current-context']);
  if (name === '') throw new Error('it has no current-context');
  const context = entryOf(file, 'context', name);
  const cluster = entryOf(file, 'cluster', text(context.cluster));
  const user = text(context.user) === '' ? {} : entryOf(file, 'user', text(context.user));
  refuse(cluster, UNSUPPORTED_CLUSTER);
  refuse(user, UNSUPPORTED_USER);
  const read = (object: JsonObject, field: string): Promise<string | undefined> =>
    readData(object, field, folder);
  const server = {
    url: toUrl(text(cluster.server)),
    ca: await read(cluster, 'certificate-authority'),
    certificate: await read(user, 'client-certificate'),
    key: await read(user, 'client-key'),
    serverName: text(cluster['tls-server-name']) || undefined,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    authorization: await toAuthorization(user, folder),
  };
  if ((server.certificate === undefined) !== (server.key === undefined)) {
    throw new Error('client-certificate and client-key belong together');
  }
  return server;
}

function entryOf(file: JsonObject, kind: 'context' | 'cluster' | 'user', name: string): JsonObject {
  const list = file[`${kind}s`];
  const entries = Array.isArray(list) ? list.map(asObject) : [];
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`it has no ${kind} ${JSON.stringify(name)}`);
  return asObject(found[kind]);
}

function refuse(object: JsonObject, fields: readonly string[]): void {
  const given = fields.find((field) => object[field] !== undefined && object[field] !== null);
  if (given !== undefined) throw new Error(`${given} is not supported`);
}

function toUrl(server: string): URL {
  const url = URL.parse(server.includes('://') ? server : `http://${server}`);
  if (server !== '' && url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new Error(`${JSON.stringify(server)} is not the address of a server`);
}

/** `<field>-data` in base64, which wins, or the file named by `field`. */
async function readData(object: JsonObject, field: string, folder: string): Promise<string | undefined> {
  const data = text(object[`${field}-data`]);
  if (data !== '') return Buffer.from(data, 'base64').toString();
  const path = text(object[field]);
  return path === '' ? undefined : readFile(resolve(folder, path), 'utf8');
}

async function toAuthorization(user: JsonObject, folder: string): Promise<string | undefined> {
  const tokenFile = text(user.tokenFile);
  const token =
    tokenFile === '' ? text(user.token) : (await readFile(resolve(folder, tokenFile), 'utf8')).trim();
  if (token !== '') return `Bearer ${token}`;
  const username = text(user.username);
  if (username === '') return undefined;
  return `Basic ${Buffer.from(`${username}:${text(user.password)}`).toString('base64')}`;
}

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
