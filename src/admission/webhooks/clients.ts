import { isAbsolute, posix } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { asObject, checkFields } from '../../object/field-errors.ts';
import { stringOf } from '../../object/json-values.ts';
import {
  type ClientCredentials,
  type ClientUsers,
  type RemoteServer,
  readClientUsers,
} from '../../outbound/client-config.ts';
import type { Dial } from '../../outbound/egress/dial.ts';
import { createServiceDial, type Place } from '../../outbound/egress/service-dial.ts';
import { WebhookClient } from '../../outbound/webhook-client.ts';
import { getOrAdd } from '../../util/get-or-add.ts';
import type { ClientConfig, ServiceReference } from './webhook.ts';

/** The credentials for calling webhooks. */
export interface WebhookCredentials {
  /** Users from the plugin's client configuration file. Each is named after the webhooks that it is for. */
  readonly users: ClientUsers | undefined;
  /** --proxy-client-cert-file and --proxy-client-key-file, for webhooks that the file does not name. */
  readonly pair: { readonly certificate: string; readonly key: string } | undefined;
}

/** The routes to webhooks: those of the cluster's services, and those with a URL. Absent: directly. */
export interface WebhookWays {
  readonly service?: Dial | undefined;
  readonly url?: Dial | undefined;
}

/** The place of a service. @throws Error in Kubernetes' words */
export type LocateService = (service: ServiceReference) => Promise<Place>;

/** Kubernetes' bound (apiserver/pkg/util/webhook/client.go). */
const MAX_CLIENTS = 200;

/** Connections to webhooks, which stay open between calls. Webhooks with the same clientConfig share them. */
export class WebhookClients {
  readonly #locate: LocateService;
  readonly #credentials: WebhookCredentials;
  readonly #ways: WebhookWays;
  readonly #clients = new LRUCache<string, WebhookClient>({
    max: MAX_CLIENTS,
    dispose: (client) => client.retire(),
  });

  constructor(locate: LocateService, credentials: WebhookCredentials, ways: WebhookWays = {}) {
    this.#ways = ways;
    this.#locate = locate;
    this.#credentials = credentials;
  }

  find(config: ClientConfig): WebhookClient {
    const key = JSON.stringify(config);
    return getOrAdd(this.#clients, key, () => new WebhookClient(() => this.#toServer(config)));
  }

  #toServer(config: ClientConfig): RemoteServer {
    const url = new URL(urlOf(config));
    const target = `${url.hostname}:${url.port || '443'}`;
    const { service } = config;
    const dial = service === undefined ? this.#ways.url : this.#dialTo(service);
    return {
      url: url.href,
      ca: config.ca === '' ? undefined : config.ca,
      // The host of the URL, which for a service is <name>.<namespace>.svc.
      serverName: undefined,
      insecureSkipVerify: false,
      ...credentialsFor(target, this.#credentials),
      ...(dial === undefined ? {} : { dial }),
    };
  }

  /** Locates the service for each new connection, because its place may change meanwhile. */
  #dialTo(service: ServiceReference): Dial {
    return createServiceDial(() => this.#locate(service), this.#ways.service);
  }
}

/**
 * The URL of a webhook, also for messages. Kubernetes cleans the path (client-go's path.Join): of `https://host//hook/`, which
 * controller-runtime's envtest makes, `https://host/hook` is called.
 */
export function urlOf({ url, service }: ClientConfig): string {
  if (service !== undefined)
    return `https://${service.name}.${service.namespace}.svc:${service.port}${cleanPath(service.path)}`;
  const [, server = url, path = ''] = /^(https?:\/\/[^/]*)(.*)$/s.exec(url) ?? [];
  return `${server}${cleanPath(path)}`;
}

const cleanPath = (path: string): string => posix.join('/', path).replace(/(?<=.)\/$/, '');

const NO_CREDENTIALS: ClientCredentials = {
  certificate: undefined,
  key: undefined,
  authorization: undefined,
};

/**
 * The user whose name matches best: `host:port`, `*.domain:port`, both without a port of 443, `*`, then the user of the current
 * context (apiserver/pkg/util/webhook/authentication.go).
 */
export function credentialsFor(target: string, { users, pair }: WebhookCredentials): ClientCredentials {
  const names = [...namesFor(target), ...(target.endsWith(':443') ? namesFor(target.slice(0, -4)) : []), '*'];
  const name = names.find((one) => users?.byName.has(one) === true);
  const found = name === undefined ? users?.current : users?.byName.get(name);
  return found ?? (pair === undefined ? NO_CREDENTIALS : { ...pair, authorization: undefined });
}

function namesFor(target: string): string[] {
  const steps = target.split('.');
  return [target, ...steps.slice(1).map((_, at) => `*.${steps.slice(at + 1).join('.')}`)];
}

/** Kinds by version; clusters write their own domain. */
const KINDS: Readonly<Record<string, string>> = Object.fromEntries(
  ['k8s.io', 'cluster.io'].flatMap((domain) => [
    [`apiserver.config.${domain}/v1`, 'WebhookAdmissionConfiguration'],
    [`apiserver.config.${domain}/v1alpha1`, 'WebhookAdmission'],
  ]),
);

/**
 * Reads the path of the client configuration file with the users for webhooks from the plugins' configuration. It may be absent where a
 * folder has webhooks.
 * @throws Error
 */
export function readWebhookConfig(
  config: JsonValue | undefined,
  hasManifests = false,
): ClientUsers | undefined {
  if (config === undefined) return undefined;
  const object = asObject(config);
  const { kind, apiVersion, kubeConfigFile } = object;
  if (kind === undefined || KINDS[stringOf(apiVersion)] !== kind)
    throw new Error(
      `no kind ${JSON.stringify(stringOf(kind))} is registered for version ${JSON.stringify(stringOf(apiVersion))}`,
    );
  const problems: FieldError[] = [];
  checkFields(object, ['kind', 'apiVersion', 'kubeConfigFile', 'staticManifestsDir'], '', problems);
  const [problem] = problems;
  if (problem !== undefined) throw new Error(`${problem.field}: ${problem.message}`);
  const path = stringOf(kubeConfigFile);
  if (path === '' && hasManifests) return undefined;
  if (!isAbsolute(path))
    throw new Error(`kubeConfigFile: Invalid value: ${JSON.stringify(path)}: must be an absolute file path`);
  return readClientUsers(path);
}
