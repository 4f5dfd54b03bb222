import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { repeatedKeyProblems } from '../../codec/yaml-problems.ts';
import { parseYamlText } from '../../codec/yaml-text.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  invalidValue,
  required,
  throwProblems,
} from '../../object/field-errors.ts';
import { textOf } from '../../object/json-values.ts';
import { parseDuration } from '../../util/duration.ts';
import { resourceProblems } from './config-resources.ts';

/**
 * The file of --encryption-provider-config, in YAML or JSON:
 *
 *   apiVersion: apiserver.config.k8s.io/v1
 *   kind: EncryptionConfiguration
 *   resources:
 *   - resources: [secrets, '*.example.com']
 *     providers:                              # the first writes, all read
 *     - aescbc: {keys: [{name: key1, secret: <base64>}]}
 *     - identity: {}
 */
const API_VERSIONS = ['apiserver.config.k8s.io/v1', 'apiserver.config.cluster.io/v1'];

export interface EncryptionRule {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group), `*.*`. */
  readonly resources: readonly string[];
  readonly providers: readonly ProviderConfig[];
}

export type KeyedKind = 'aescbc' | 'aesgcm' | 'secretbox';

export type ProviderConfig =
  | { readonly kind: 'identity' }
  | { readonly kind: KeyedKind; readonly keys: readonly NamedKey[] }
  | KmsConfig;

export interface NamedKey {
  readonly name: string;
  readonly secret: Buffer;
}

export interface KmsConfig {
  readonly kind: 'kms';
  readonly name: string;
  /** The path of a Unix socket. */
  readonly socket: string;
  readonly timeoutMs: number;
}

const WHAT = 'encryption configuration';

/** @throws Error with all problems, without secrets */
export function parseEncryptionConfig(text: string): readonly EncryptionRule[] {
  if (text.trim() === '') throw new Error(`${WHAT}: the file is empty`);
  const { value, duplicates } = parseYamlText(Buffer.from(text));
  const file = asObject(value);
  const problems = repeatedKeyProblems(duplicates);
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['EncryptionConfiguration'], 'kind', problems);
  checkFields(file, ['apiVersion', 'kind', 'resources'], '', problems);
  const rules = new RuleReader(problems).rules(file.resources);
  throwProblems(WHAT, problems);
  return rules;
}

const AES_SIZES = [16, 24, 32];
const KEY_SIZES: Readonly<Record<KeyedKind, readonly number[]>> = {
  aescbc: AES_SIZES,
  aesgcm: AES_SIZES,
  secretbox: [32],
};
const KINDS = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'] as const;
const DEFAULT_TIMEOUT = '3s';

/** Reports in Kubernetes' words (apiserver/validation/validation_encryption.go). */
class RuleReader {
  readonly #problems: FieldError[];
  readonly #pluginNames = new Set<string>();

  constructor(problems: FieldError[]) {
    this.#problems = problems;
  }

  rules(value: JsonValue | undefined): EncryptionRule[] {
    const rules = listOf(value).map(asObject);
    if (rules.length === 0) this.#problems.push(required('resources', 'at least one resources is required'));
    const seen = new Set<string>();
    return rules.map((rule, at) => this.#rule(rule, `resources[${at}]`, seen));
  }

  #rule(rule: JsonObject, path: string, seen: Set<string>): EncryptionRule {
    checkFields(rule, ['resources', 'providers'], path, this.#problems);
    const resources = listOf(rule.resources).map(String);
    this.#problems.push(...resourceProblems(resources, `${path}.resources`, seen));
    const providers = listOf(rule.providers).map(asObject);
    if (providers.length === 0)
      this.#problems.push(required(`${path}.providers`, `at least one ${path}.providers is required`));
    return {
      resources,
      providers: providers.flatMap((one, at) => this.#provider(one, `${path}.providers[${at}]`) ?? []),
    };
  }

  #provider(provider: JsonObject, path: string): ProviderConfig | undefined {
    checkFields(provider, KINDS, path, this.#problems);
    const [kind, ...others] = KINDS.filter((one) => provider[one] !== undefined && provider[one] !== null);
    if (kind === undefined || others.length > 0) {
      const why =
        kind === undefined
          ? 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'
          : 'more than one provider specified in a single element, should split into different list elements';
      // Show no keys.
      this.#problems.push(invalidValue(path, Object.keys(provider), why));
      return undefined;
    }
    const config = asObject(provider[kind]);
    const at = `${path}.${kind}`;
    if (kind === 'kms') return this.#kms(config, at);
    checkFields(config, kind === 'identity' ? [] : ['keys'], at, this.#problems);
    return kind === 'identity'
      ? { kind }
      : { kind, keys: this.#keys(config.keys, `${at}.keys`, KEY_SIZES[kind]) };
  }

  #keys(value: JsonValue | undefined, path: string, sizes: readonly number[]): NamedKey[] {
    const keys = listOf(value).map(asObject);
    if (keys.length === 0) this.#problems.push(required(path, 'at least one keys is required'));
    return keys.map((key, at) => this.#key(key, `${path}[${at}]`, sizes));
  }

  #key(key: JsonObject, path: string, sizes: readonly number[]): NamedKey {
    checkFields(key, ['name', 'secret'], path, this.#problems);
    const name = textOf(key.name);
    if (name === '') this.#problems.push(required(`${path}.name`, 'name is a mandatory field for a key'));
    const text = textOf(key.secret);
    if (text === '') {
      this.#problems.push(required(`${path}.secret`, 'secret is a mandatory field for a key'));
      return { name, secret: Buffer.alloc(0) };
    }
    const refuse = (why: string): number =>
      this.#problems.push(invalidValue(`${path}.secret`, 'REDACTED', why));
    const secret = Buffer.from(text, 'base64');
    if (secret.toString('base64') !== text.replace(/[\r\n]/g, '')) refuse('secrets must be base64 encoded');
    else if (!sizes.includes(secret.length))
      refuse(
        `secret is not of the expected length, got ${secret.length}, expected one of [${sizes.join(' ')}]`,
      );
    return { name, secret };
  }

  #kms(config: JsonObject, path: string): KmsConfig {
    const problems = this.#problems;
    checkFields(config, ['apiVersion', 'name', 'cachesize', 'endpoint', 'timeout'], path, problems);
    const { apiVersion = 'v1' } = config;
    const name = textOf(config.name);
    if (name === '') problems.push(required(`${path}.name`, 'name is a mandatory field for a provider'));
    if (name.includes(':'))
      problems.push(
        invalidValue(`${path}.name`, name, `invalid KMS provider name ${name}, must not contain ':'`),
      );
    if (this.#pluginNames.has(name))
      problems.push(
        invalidValue(`${path}.name`, name, `duplicate KMS provider name ${name}, names must be unique`),
      );
    this.#pluginNames.add(name);
    const timeoutMs = this.#timeoutMs(config.timeout ?? DEFAULT_TIMEOUT, `${path}.timeout`);
    const socket = this.#socket(textOf(config.endpoint), `${path}.endpoint`);
    if (apiVersion === 'v2' && config.cachesize !== undefined && config.cachesize !== null)
      problems.push(invalidValue(`${path}.cachesize`, config.cachesize, 'cachesize is not supported in v2'));
    if (apiVersion === 'v1') problems.push(invalidValue(`${path}.apiVersion`, apiVersion, NO_V1));
    else if (apiVersion !== 'v2')
      problems.push(
        invalidValue(
          `${path}.apiVersion`,
          apiVersion,
          'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
        ),
      );
    return { kind: 'kms', name, socket, timeoutMs };
  }

  #timeoutMs(value: JsonValue, path: string): number {
    const timeoutMs = typeof value === 'string' ? parseDuration(value) : undefined;
    if (timeoutMs === undefined)
      this.#problems.push(invalidValue(path, value, 'must be a duration, such as 3s'));
    else if (timeoutMs <= 0)
      this.#problems.push(invalidValue(path, value, 'timeout should be a positive value'));
    return timeoutMs ?? 0;
  }

  /** `unix:///run/kms.sock`, or `unix:///@name` for an abstract one. */
  #socket(endpoint: string, path: string): string {
    if (endpoint === '') {
      this.#problems.push(invalidValue(path, '', 'endpoint is a mandatory field for a kms'));
      return '';
    }
    const scheme = /^([a-z][a-z\d+.-]*):/i.exec(endpoint)?.[1] ?? '';
    if (scheme !== 'unix') {
      const why = `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`;
      this.#problems.push(invalidValue(path, endpoint, why));
      return '';
    }
    const file = endpoint.replace(/^unix:(\/\/)?/, '');
    return file.startsWith('/@') ? `\0${file.slice(2)}` : file;
  }
}

const NO_V1 =
  'KMS v1 is deprecated and not served here: it calls the plugin for every object. Use a plugin with API version v2, and apiVersion: v2';

const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);
