import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { canonicalApiVersion } from '../../api/dialect.ts';
import type { GroupResource, ResourceOf } from '../../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { repeatedKeyProblems } from '../../codec/yaml-problems.ts';
import { parseYamlText } from '../../codec/yaml-text.ts';
import { asObject, throwProblems } from '../../object/field-errors.ts';
import { stringOf } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';
import { FollowedFiles } from '../../util/followed-files.ts';
import type { ManifestMetrics } from './manifest-metrics.ts';
import { STATIC_SUFFIX } from './static-suffix.ts';

/**
 * Admission that files configure (Kubernetes 1.36: ManifestBasedAdmissionControlConfig): the objects in the folder
 * `staticManifestsDir` of a plugin's configuration. They are in force before the first request is answered, and no client can
 * read, change or delete them. So they refer to nothing that clients can change, and they also judge the writes of objects that
 * configure admission, which objects of the API never do.
 */
export interface StaticObjects {
  /** Rises with every change. */
  readonly changes: number;
  /** By name. */
  in<T extends ApiObject>(resource: ResourceOf<T>): readonly T[];
}

/** One kind of the objects in a folder. */
interface ManifestKind {
  readonly kind: string;
  readonly resource: GroupResource;
  /** Rules beyond those of the API. @throws Error */
  restrict(object: ApiObject): void;
}

/** The rules for the folder of a plugin. */
export interface ManifestRules {
  readonly plugin: string;
  readonly kinds: readonly ManifestKind[];
  /** Rules about several objects. @throws Error */
  restrictAll?(objects: StaticObjects): void;
}

/** Decodes an object, sets its defaults and validates it, as a create through the API does. @throws Error */
export type ReadManifest = (value: JsonObject, resource: GroupResource) => ApiObject;

interface ManifestFolderOptions {
  readonly dir: string;
  readonly rules: ManifestRules;
  readonly read: ReadManifest;
  readonly metrics: ManifestMetrics;
  /** Gets the outcome of each reading but the first; after an error the objects before it stay in force. */
  readonly report: { loaded(): void; failed(error: unknown): void };
}

const API_VERSION = 'admissionregistration.k8s.io/v1';
const EXTENSIONS: readonly string[] = ['.yaml', '.yml', '.json'];

/** The objects of a folder, all replaced at once when a file changes. Files in folders below it are not read. */
export class ManifestFolder implements StaticObjects {
  readonly #files: FollowedFiles<LoadedObjects>;
  #changes = 0;

  /** @throws Error that names the file */
  constructor({ dir, rules, read, metrics, report }: ManifestFolderOptions) {
    const load = (texts: readonly string[], paths: readonly string[]): LoadedObjects => {
      const loaded = new LoadedObjects(rules, read);
      for (const [at, path] of paths.entries()) loaded.addFile(path, texts[at] ?? '');
      rules.restrictAll?.(loaded);
      metrics.loaded(rules.plugin, hashOf(texts));
      return loaded;
    };
    this.#files = new FollowedFiles({
      paths: () => manifestsIn(dir),
      make: load,
      onChange: () => {
        this.#changes += 1;
        report.loaded();
      },
      onError: (error) => {
        metrics.failed(rules.plugin);
        report.failed(error);
      },
    });
  }

  get changes(): number {
    return this.#changes;
  }

  in<T extends ApiObject>(resource: ResourceOf<T>): readonly T[] {
    return this.#files.current.in(resource);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#files.run(signal);
  }

  /** Checks the files now. */
  look(): Promise<void> {
    return this.#files.look();
  }
}

const manifestsIn = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && EXTENSIONS.includes(extname(entry.name).toLowerCase()))
    .map(({ name }) => join(dir, name))
    .sort();

/** Over all files in the order of their names; '' without any content. */
function hashOf(texts: readonly string[]): string {
  const filled = texts.filter((text) => text !== '');
  if (filled.length === 0) return '';
  const hash = createHash('sha256');
  for (const text of filled) hash.update(text).update('\0');
  return `sha256:${hash.digest('hex')}`;
}

/** The objects of one reading of all files. */
class LoadedObjects implements StaticObjects {
  readonly changes = 0;
  readonly #rules: ManifestRules;
  readonly #read: ReadManifest;
  readonly #objects = new Map<string, ApiObject[]>();
  /** The file of each object. */
  readonly #files = new Map<string, string>();

  constructor(rules: ManifestRules, read: ReadManifest) {
    this.#rules = rules;
    this.#read = read;
  }

  in<T extends ApiObject>({ resource }: ResourceOf<T>): readonly T[] {
    // The objects of one resource are of one type.
    return (this.#objects.get(resource) ?? []) as T[];
  }

  /** @throws Error */
  addFile(path: string, text: string): void {
    try {
      for (const document of documentsOf(text)) this.#add(document, path);
    } catch (error) {
      throw new Error(`${path}: ${errorText(error)}`, { cause: error });
    }
  }

  #add(value: JsonValue, path: string): void {
    const object = asObject(value);
    const kind = stringOf(object.kind);
    const apiVersion = canonicalApiVersion(stringOf(object.apiVersion));
    const items = Array.isArray(object.items) ? object.items : [];
    if (apiVersion === 'v1' && kind === 'List') {
      for (const item of items) this.#add(item, path);
      return;
    }
    const known = this.#rules.kinds.find((one) => kind === one.kind || kind === `${one.kind}List`);
    if (known === undefined || apiVersion !== API_VERSION) throw this.#foreign(kind, apiVersion);
    const single = kind === known.kind ? [object] : items.map(asObject);
    for (const one of single) this.#keep({ ...one, kind: known.kind, apiVersion }, known, path);
  }

  #foreign(kind: string, apiVersion: string): Error {
    const kinds = this.#rules.kinds.map((one) => one.kind).join(', ');
    return new Error(
      `kind ${JSON.stringify(kind)} of apiVersion ${JSON.stringify(apiVersion)} has no place in a manifest of ` +
        `${this.#rules.plugin}, which may have ${kinds} of ${API_VERSION}`,
    );
  }

  #keep(value: JsonObject, { kind, resource, restrict }: ManifestKind, path: string): void {
    const object = this.#read(value, resource);
    const { name = '' } = object.metadata;
    if (!name.endsWith(STATIC_SUFFIX))
      throw new Error(`${kind} ${JSON.stringify(name)} must have a name that ends with "${STATIC_SUFFIX}"`);
    const key = `${kind} ${JSON.stringify(name)}`;
    const before = this.#files.get(key);
    if (before !== undefined) throw new Error(`${key} is there twice, first in ${before}`);
    this.#files.set(key, path);
    explain(key, () => restrict(object));
    const objects = [...(this.#objects.get(resource.resource) ?? []), object];
    this.#objects.set(
      resource.resource,
      objects.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)),
    );
  }
}

function explain(what: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new Error(`${what}: ${errorText(error)}`);
  }
}

/** A separator may have a comment. A part that is only white space is no document. */
const SEPARATOR = /^---[ \t]*(?:#.*)?\r?$/m;

/** @throws SyntaxError, Error with all repeated fields */
const documentsOf = (text: string): JsonValue[] =>
  text
    .split(SEPARATOR)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const { value, duplicates } = parseYamlText(Buffer.from(part));
      throwProblems('manifest', repeatedKeyProblems(duplicates));
      return value;
    });
