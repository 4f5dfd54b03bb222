import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { repeatedKeyProblems } from '../../codec/yaml-problems.ts';
import { parseYamlText } from '../../codec/yaml-text.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  duplicate,
  invalidValue,
  notSupported,
  required,
  throwProblems,
} from '../../object/field-errors.ts';
import { stringOf } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';

/**
 * The file of --egress-selector-config-file: by which way connections leave this server.
 *
 *   apiVersion: apiserver.k8s.io/v1beta1
 *   kind: EgressSelectorConfiguration
 *   egressSelections:
 *   - name: cluster
 *     connection:
 *       proxyProtocol: GRPC
 *       transport: {uds: {udsName: /run/konnectivity.sock}}
 *
 * The checks and their texts are Kubernetes' (apiserver, pkg/server/egressselector/config.go).
 */
export type EgressConfig = ReadonlyMap<EgressName, EgressConnection>;

/** The target of a connection: webhooks and other URLs, the cluster, or the database. */
export type EgressName = 'controlplane' | 'cluster' | 'kvstore';

export type EgressConnection =
  | { readonly protocol: 'Direct' }
  | { readonly protocol: 'HTTPConnect'; readonly proxy: ProxyAddress }
  | { readonly protocol: 'GRPC'; readonly socketPath: string };

/** `tls`: undefined for plain http. */
export type ProxyAddress =
  | { readonly kind: 'uds'; readonly socketPath: string }
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      readonly tls: ProxyTls | undefined;
    };

/** PEM texts. Without `ca`: the authorities that the host trusts. */
interface ProxyTls {
  readonly ca: string | undefined;
  readonly cert: string;
  readonly key: string;
  /** '': the host's name. */
  readonly serverName: string;
}

const API_VERSIONS = ['k8s.io', 'cluster.io'].flatMap((domain) =>
  ['v1alpha1', 'v1beta1'].map((version) => `apiserver.${domain}/${version}`),
);
const PROTOCOLS = ['Direct', 'HTTPConnect', 'GRPC'] as const;
/** The store's name in this server's dialect and in Kubernetes'. */
const NAMES: Readonly<Record<string, EgressName>> = {
  cluster: 'cluster',
  controlplane: 'controlplane',
  etcd: 'kvstore',
  kvstore: 'kvstore',
};
/** Kubernetes' paths do not identify the selection. */
const AT = 'service.connection';

/** @throws Error with all problems */
export function readEgressConfig(path: string): EgressConfig {
  let text: Buffer;
  try {
    text = readFileSync(path);
  } catch (error) {
    const why = errorText(error);
    throw new Error(`unable to read egress selector configuration from ${JSON.stringify(path)} [${why}]`, {
      cause: error,
    });
  }
  return parseEgressConfig(text);
}

/** @throws Error with all problems */
export function parseEgressConfig(text: Buffer): EgressConfig {
  const { value, duplicates } = parseYamlText(text);
  const file = asObject(value);
  const problems: FieldError[] = [...repeatedKeyProblems(duplicates)];
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['EgressSelectorConfiguration'], 'kind', problems);
  checkFields(file, ['apiVersion', 'kind', 'egressSelections'], '', problems);
  const selections = Array.isArray(file.egressSelections) ? file.egressSelections.map(asObject) : [];
  const config = new Map<EgressName, EgressConnection>();
  for (const [at, selection] of selections.entries()) {
    checkFields(selection, ['name', 'connection'], `egressSelections[${at}]`, problems);
    const connection = readConnection(asObject(selection.connection), at, problems);
    const name = readName(stringOf(selection.name).toLowerCase(), at, config, problems);
    if (name !== undefined && connection !== undefined) config.set(name, connection);
  }
  throwProblems('egress selector configuration', problems);
  return config;
}

function readName(
  given: string,
  at: number,
  known: EgressConfig,
  problems: FieldError[],
): EgressName | undefined {
  const name = NAMES[given];
  if (name === undefined) problems.push(notSupported(AT, given, Object.keys(NAMES)));
  else if (known.has(name)) problems.push(duplicate(`${AT}[${at}]`, given));
  return name;
}

function readConnection(
  connection: JsonObject,
  at: number,
  problems: FieldError[],
): EgressConnection | undefined {
  const path = `egressSelections[${at}].connection`;
  checkFields(connection, ['proxyProtocol', 'transport'], path, problems);
  const { proxyProtocol, transport } = connection;
  const isThere = transport !== undefined && transport !== null;
  switch (proxyProtocol) {
    case 'Direct':
      if (isThere)
        problems.push(invalidValue(`${AT}.transport`, 'direct', 'config must be absent for direct connect'));
      return { protocol: 'Direct' };
    case 'HTTPConnect':
    case 'GRPC':
      if (isThere) return readTransport(proxyProtocol, asObject(transport), `${path}.transport`, problems);
      problems.push(required(`${AT}.transport`, `transport must be set for ${proxyProtocol}`));
      return undefined;
    default:
      problems.push(notSupported(`${AT}.protocol`, stringOf(proxyProtocol), PROTOCOLS));
      return undefined;
  }
}

const given = (value: JsonValue | undefined): JsonObject | undefined =>
  value === undefined || value === null ? undefined : asObject(value);

function readTransport(
  protocol: 'HTTPConnect' | 'GRPC',
  transport: JsonObject,
  path: string,
  problems: FieldError[],
): EgressConnection | undefined {
  checkFields(transport, ['tcp', 'uds'], path, problems);
  const tcp = given(transport.tcp);
  const uds = given(transport.uds);
  if (protocol === 'GRPC') {
    if (uds === undefined) problems.push(required(`${AT}.uds`, 'UDS must be set with GRPC'));
    return uds === undefined ? undefined : { protocol, socketPath: readSocket(uds, path, problems) };
  }
  if (tcp !== undefined && uds !== undefined) {
    problems.push(invalidValue(`${AT}.tcp`, tcp, 'TCP and UDS cannot both be set'));
    return undefined;
  }
  if (uds !== undefined)
    return { protocol, proxy: { kind: 'uds', socketPath: readSocket(uds, path, problems) } };
  if (tcp === undefined) {
    problems.push(required(`${AT}.tcp`, 'One of TCP or UDS must be set'));
    return undefined;
  }
  const proxy = readTcp(tcp, path, problems);
  return proxy === undefined ? undefined : { protocol, proxy };
}

function readSocket(uds: JsonObject, path: string, problems: FieldError[]): string {
  checkFields(uds, ['udsName'], `${path}.uds`, problems);
  const name = stringOf(uds.udsName);
  if (name === '') problems.push(invalidValue(`${AT}.udsName`, 'nil', 'must be present for UDS connections'));
  return name;
}

function readTcp(tcp: JsonObject, path: string, problems: FieldError[]): ProxyAddress | undefined {
  checkFields(tcp, ['url', 'tlsConfig'], `${path}.tcp`, problems);
  const text = stringOf(tcp.url);
  const isSecure = text.startsWith('https://');
  if (!isSecure && !text.startsWith('http://')) {
    const why = 'supported connection protocols are http:// and https://';
    problems.push(invalidValue(`${AT}.url`, text, why));
    return undefined;
  }
  const url = URL.parse(text);
  if (url === null || url.hostname === '') {
    problems.push(invalidValue(`${AT}.url`, text, 'must be a URL'));
    return undefined;
  }
  const config = given(tcp.tlsConfig);
  if (!isSecure && config !== undefined)
    problems.push(invalidValue(`${AT}.tlsConfig`, 'nil', 'config must not be present when using HTTP'));
  return {
    kind: 'tcp',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (isSecure ? 443 : 80)),
    tls: isSecure ? readTls(config, `${path}.tcp.tlsConfig`, problems) : undefined,
  };
}

function readTls(config: JsonObject | undefined, path: string, problems: FieldError[]): ProxyTls | undefined {
  if (config === undefined) {
    problems.push(required(`${AT}.tlsConfig`, 'TLSConfig must be present when using HTTPS'));
    return undefined;
  }
  checkFields(config, ['caBundle', 'clientKey', 'clientCert', 'tlsServerName'], path, problems);
  const at = `${AT}.tlsConfig`;
  const caFile = stringOf(config.caBundle);
  const read = (file: string, field: string, what: string): string => {
    if (existsSync(file)) return readFileSync(file, 'utf8');
    problems.push(invalidValue(`${at}.${field}`, file, `TLS ${what} does not exist`));
    return '';
  };
  const readPart = (field: 'clientCert' | 'clientKey', absent: string, what: string): string => {
    const file = stringOf(config[field]);
    if (file !== '') return read(file, field, what);
    problems.push(invalidValue(`${at}.${field}`, 'nil', absent));
    return '';
  };
  return {
    ca: caFile === '' ? undefined : read(caFile, 'caBundle', 'config ca bundle'),
    cert: readPart('clientCert', 'Using TLS requires clientCert', 'client cert'),
    key: readPart('clientKey', 'Using TLS requires requires clientKey', 'client key'),
    serverName: stringOf(config.tlsServerName),
  };
}
