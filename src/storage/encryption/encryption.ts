import { type GroupResource, parseQualifiedResource, toQualifiedResource } from '../../api/names.ts';
import type { ObjectKey } from '../key.ts';
import { JSON_MEDIA_TYPE, type ObjectEncoding } from '../object-encoding.ts';
import type { EncodedBytes } from '../revision-log.ts';
import type { EncryptionRule, KmsConfig, ProviderConfig } from './encryption-config.ts';
import { type Direction, EncryptionMetrics, type Transformations } from './encryption-metrics.ts';
import { KeyedProvider } from './keyed-provider.ts';
import { type EncryptedForm, formatForm, isEncrypted, parseForm } from './media-type.ts';
import type { KeyLabel, Provider, Sealed } from './provider.ts';

/** Undefined stands for `identity`. */
type Providers = readonly (Provider | undefined)[];

/** ProviderRules maps resources to their providers, as a file says. */
export class ProviderRules {
  readonly #rules = new Map<string, Providers>();
  readonly #known = new Map<string, Providers | undefined>();

  /** `connect` makes the provider of a KMS plugin. */
  constructor(rules: readonly EncryptionRule[], connect: (config: KmsConfig) => Provider) {
    const toProvider = (config: ProviderConfig): Provider | undefined => {
      if (config.kind === 'identity') return undefined;
      return config.kind === 'kms' ? connect(config) : new KeyedProvider(config.kind, config.keys);
    };
    for (const { resources, providers } of rules) {
      const made = providers.map(toProvider);
      for (const text of resources) {
        const { group, resource } = parseQualifiedResource(text);
        const name = `${resource}.${group}`;
        // A later rule that names a resource again adds its providers, for reading.
        this.#rules.set(name, [...(this.#rules.get(name) ?? []), ...made]);
      }
    }
  }

  /** Applies the most specific rule; undefined without one. */
  of({ group, resource }: GroupResource): Providers | undefined {
    const name = `${resource}.${group}`;
    if (!this.#known.has(name)) {
      const found = [name, `*.${group}`, '*.*'].find((one) => this.#rules.has(one));
      this.#known.set(name, found === undefined ? undefined : this.#rules.get(found));
    }
    return this.#known.get(name);
  }
}

/**
 * Encryption encrypts objects at rest. It binds bytes to the object's group, resource, namespace and name: in another row they are
 * refused. The rules may be replaced at any time.
 */
export class Encryption implements ObjectEncoding {
  #rules: ProviderRules;
  readonly #metrics: EncryptionMetrics;
  /** By provider prefix. */
  readonly #counts: Readonly<Record<Direction, Map<string, Transformations>>> = {
    to_storage: new Map(),
    from_storage: new Map(),
  };
  /** The last form written: most writes have the same. */
  #lastForm: { readonly label: KeyLabel; readonly of: string; readonly mediaType: string } | undefined;
  /** Parsed forms by media type; there are few. */
  readonly #forms = new Map<string, EncryptedForm>();

  constructor(rules: ProviderRules, metrics = new EncryptionMetrics()) {
    this.#rules = rules;
    this.#metrics = metrics;
  }

  replace(rules: ProviderRules): void {
    this.#rules = rules;
  }

  encode(key: ObjectKey, plain: EncodedBytes): EncodedBytes | Promise<EncodedBytes> {
    const provider = this.#rules.of(key)?.[0];
    if (provider === undefined) return plain;
    const { mediaType: of } = plain;
    const count = this.#count('to_storage', provider.prefix);
    const sealed = count.measure(() => provider.seal(plain.bytes, toContext(key, of)));
    if (sealed instanceof Promise) return sealed.then((known) => this.#toEncoded(known, of));
    return this.#toEncoded(sealed, of);
  }

  handles(mediaType: string): boolean {
    return isEncrypted(mediaType);
  }

  decode(key: ObjectKey, { bytes, mediaType }: EncodedBytes): EncodedBytes | Promise<EncodedBytes> {
    const form = this.#parse(mediaType);
    const provider = this.#rules.of(key)?.find((one) => one?.knows(form) === true);
    if (provider === undefined) {
      this.#metrics.unknownRead();
      throw new Error(
        `it is encrypted by ${describe(form)}, which is not configured for ${toQualifiedResource(key)}`,
      );
    }
    const count = this.#count('from_storage', provider.prefix);
    const plain = count.measure(() => provider.open(form, bytes, toContext(key, form.of)));
    if (plain instanceof Promise) return plain.then((known) => ({ bytes: known, mediaType: form.of }));
    return { bytes: plain, mediaType: form.of };
  }

  /** As in Kubernetes, rules without `identity` refuse plain objects: writing those takes no key. */
  refuses(resource: GroupResource): string | undefined {
    const providers = this.#rules.of(resource);
    if (providers === undefined || providers.includes(undefined)) return undefined;
    return `it is not encrypted, and identity is not among the providers of ${toQualifiedResource(resource)}`;
  }

  formOf(resource: GroupResource, mediaType: string): string | undefined {
    const provider = this.#rules.of(resource)?.[0];
    if (provider === undefined) return mediaType;
    const { label } = provider;
    return label === undefined ? undefined : formatForm({ ...label, of: mediaType });
  }

  #toEncoded({ label, bytes }: Sealed, of: string): EncodedBytes {
    const last = this.#lastForm;
    if (last?.label === label && last.of === of) return { bytes, mediaType: last.mediaType };
    const mediaType = formatForm({ ...label, of });
    this.#lastForm = { label, of, mediaType };
    return { bytes, mediaType };
  }

  #count(direction: Direction, prefix: string): Transformations {
    let count = this.#counts[direction].get(prefix);
    if (count === undefined) {
      count = this.#metrics.transformations(direction, prefix);
      this.#counts[direction].set(prefix, count);
    }
    return count;
  }

  #parse(mediaType: string): EncryptedForm {
    let form = this.#forms.get(mediaType);
    if (form === undefined) {
      form = parseForm(mediaType);
      if (this.#forms.size >= MAX_FORMS) this.#forms.clear();
      this.#forms.set(mediaType, form);
    }
    return form;
  }
}

const MAX_FORMS = 1000;

const toContext = ({ group, resource, namespace, name }: ObjectKey, of: string): Buffer =>
  Buffer.from(
    of === JSON_MEDIA_TYPE
      ? `${group}/${resource}/${namespace}/${name}`
      : `${group}/${resource}/${namespace}/${name}\0${of}`,
  );

const describe = ({ provider, plugin, key }: KeyLabel): string =>
  plugin === undefined
    ? `the key ${JSON.stringify(key)} of ${provider}`
    : `the KMS plugin ${JSON.stringify(plugin)}`;
