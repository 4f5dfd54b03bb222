import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import { isObject } from '../object/json-values.ts';
import { errorText } from '../util/error-text.ts';
import type { Dial } from './egress/dial.ts';

/** How this server identifies itself to another. PEM texts, not paths. */
export interface ClientCredentials {
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
}

/** Another server, as a client configuration file (kubeconfig) describes it. PEM texts, not paths. */
export interface RemoteServer extends ClientCredentials {
  readonly url: string;
  readonly ca: string | undefined;
  /** Undefined: the host of the URL. */
  readonly serverName: string | undefined;
  readonly insecureSkipVerify: boolean;
  /** Opens the connections; undefined: the system does. */
  readonly dial?: Dial;
}

/**
 * The server of the file's current context, which is reached by `dial`. Paths in the file are relative to it.
 * @throws Error that names the file and the problem
 */
export function readClientConfig(path: string, dial?: Dial): RemoteServer {
  try {
    return { ...toRemote(parse(path), dirname(path)), ...(dial === undefined ? {} : { dial }) };
  } catch (error) {
    throw new Error(`${path}: ${errorText(error)}`, { cause: error });
  }
}

/** The users of a client configuration file. */
export interface ClientUsers {
  readonly byName: ReadonlyMap<string, ClientCredentials>;
  /** The user of the current context. */
  readonly current: ClientCredentials | undefined;
}

/** @throws Error that names the file and the problem */
export function readClientUsers(path: string): ClientUsers {
  try {
    const config = parse(path);
    const users = Array.isArray(config.users) ? config.users.filter(isObject) : [];
    const byName = new Map(
      users.map(({ name, user }) => [text(name), toCredentials(isObject(user) ? user : {}, dirname(path))]),
    );
    const context = text(config['current-context']);
    const current = context === '' ? '' : text(named(config, 'contexts', context, 'context').user);
    return { byName, current: byName.get(current) };
  } catch (error) {
    throw new Error(`${path}: ${errorText(error)}`, { cause: error });
  }
}

function parse(path: string): JsonObject {
  const { value } = parseYamlText(readFileSync(path));
  if (!isObject(value)) throw new Error('a client configuration must be an object');
  return value;
}

function toRemote(config: JsonObject, folder: string): RemoteServer {
  const context = named(config, 'contexts', text(config['current-context']), 'context');
  const cluster = named(config, 'clusters', text(context.cluster), 'cluster');
  const user = text(context.user) === '' ? {} : named(config, 'users', text(context.user), 'user');
  refuse(cluster, ['proxy-url']);
  const url = text(cluster.server);
  if (!/^https?:\/\//.test(url)) throw new Error(`server ${JSON.stringify(url)} must begin with https://`);
  return {
    url,
    ca: pem(cluster, 'certificate-authority', folder),
    serverName: text(cluster['tls-server-name']) || undefined,
    insecureSkipVerify: cluster['insecure-skip-tls-verify'] === true,
    ...toCredentials(user, folder),
  };
}

function toCredentials(user: JsonObject, folder: string): ClientCredentials {
  refuse(user, ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra']);
  const certificate = pem(user, 'client-certificate', folder);
  const key = pem(user, 'client-key', folder);
  if ((certificate === undefined) !== (key === undefined))
    throw new Error('client-certificate and client-key belong together');
  return { certificate, key, authorization: toAuthorization(user, folder) };
}

/** Unsupported fields that would change the server or the user must not be ignored. */
function refuse(object: JsonObject, fields: readonly string[]): void {
  const given = fields.find((field) => object[field] !== undefined && object[field] !== null);
  if (given !== undefined) throw new Error(`${given} is not supported`);
}

/** A file with one context need not name it. */
function named(config: JsonObject, list: string, wanted: string, field: string): JsonObject {
  const entries = Array.isArray(config[list]) ? config[list].filter(isObject) : [];
  const found =
    wanted === '' && entries.length === 1 ? entries[0] : entries.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`${list} has no ${JSON.stringify(wanted)}`);
  return isObject(found[field]) ? found[field] : {};
}

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** `<name>-data` in base64, or the path `<name>`. */
function pem(object: JsonObject, name: string, folder: string): string | undefined {
  const data = text(object[`${name}-data`]);
  if (data !== '') return Buffer.from(data, 'base64').toString();
  const path = text(object[name]);
  return path === '' ? undefined : readFileSync(resolve(folder, path), 'utf8');
}

function toAuthorization(user: JsonObject, folder: string): string | undefined {
  const file = text(user.tokenFile);
  const token = file === '' ? text(user.token) : readFileSync(resolve(folder, file), 'utf8').trim();
  if (token !== '') return `Bearer ${token}`;
  const name = text(user.username);
  return name === ''
    ? undefined
    : `Basic ${Buffer.from(`${name}:${text(user.password)}`).toString('base64')}`;
}
