import { LRUCache } from 'lru-cache';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import { NO_REMOTE_APIS, type RemoteApis } from '../registry/remote-apis.ts';
import { hash } from './hash.ts';
import {
  buildDocument,
  type Contents,
  type Described,
  type DocumentKey,
  type DocumentSource,
  toJsonInTurns,
} from './openapi-document.ts';
import { groupsOf, type Page, pagesOf, type ServedPages } from './openapi-pages.ts';
import { encodeOpenApiV3 } from './openapi-protobuf/protobuf-v3.ts';
import {
  type BuiltInPart,
  customParts,
  type DocumentForm,
  type DocumentPart,
  makeBuiltInPart,
  piecesOf,
  remoteParts,
} from './openapi-v2.ts';

/** The bytes of a document and their hash. */
export interface Document {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A document that is made while it is sent. */
interface DocumentInPieces {
  readonly etag: string;
  /** An empty piece ends a turn. */
  pieces(): Iterable<Buffer>;
}

/** The document of a group version, whose hash is known before it is made. */
interface PromisedDocument {
  readonly etag: string;
  /** The hash of the JSON form, which identifies the document in URLs. */
  readonly name: string;
  make(): Promise<Buffer>;
}

/** Documents with custom resources that are kept, all together. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
/** Increase this when a definition is published differently: clients cache documents by their hash. */
const PUBLICATION = 4;

/**
 * Makes OpenAPI documents on demand. Those of built-in resources take 150 ms together, so that making them yields the event
 * loop, and are kept. Custom resources may have a hundred megabytes: the hash of a document comes from the digests of its
 * definitions, without making it, and only the most recent documents are kept.
 */
export class OpenApi {
  readonly #registry: Registry;
  readonly #source: DocumentSource;
  readonly #remote: RemoteApis;
  /** Hashes by path and form, until the group changes. */
  readonly #etags = new Map<string, { readonly group: string; readonly etag: Promise<string> }>();
  readonly #builtIn = new Map<string, Promise<Document>>();
  readonly #builtInParts = new Map<string, Promise<BuiltInPart>>();
  readonly #custom = new LRUCache<string, Buffer>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ length }) => Math.max(1, length),
  });
  readonly #making = new Map<string, Promise<Buffer>>();

  constructor(options: {
    registry: Registry;
    types: TypeLibrary;
    gitVersion: string;
    enums?: boolean | undefined;
    cbor?: boolean | undefined;
    itemDefaults?: boolean | undefined;
    pages?: ServedPages | undefined;
    remote?: RemoteApis;
  }) {
    this.#registry = options.registry;
    this.#remote = options.remote ?? NO_REMOTE_APIS;
    this.#source = options;
    this.#registry.onChange(({ groups }) => {
      for (const [name, { group }] of this.#etags) if (groups.has(group)) this.#etags.delete(name);
    });
  }

  async groupVersion(key: DocumentKey, form: DocumentForm = 'json'): Promise<PromisedDocument> {
    const described = this.#describe(key);
    const [etag, name] = await Promise.all([this.#etag(described, form), this.#etag(described, 'json')]);
    return { etag, name, make: () => this.#bytes(described, form, etag) };
  }

  /** The documents of pages beside the resources, by path. */
  pages(keys: Iterable<DocumentKey>): ReadonlyMap<string, readonly Page[]> {
    const { pages } = this.#source;
    if (pages === undefined) return new Map();
    return pagesOf(
      groupsOf(keys, (group) => this.#registry.isBuiltIn(group)),
      pages,
    );
  }

  async page(path: string, pages: readonly Page[], form: DocumentForm = 'json'): Promise<PromisedDocument> {
    const of = (wanted: DocumentForm): Promise<Document> =>
      kept(this.#builtIn, `${path} ${wanted}`, () => this.#make({ described: [], pages }, wanted));
    const [{ etag, bytes }, { etag: name }] = await Promise.all([of(form), of('json')]);
    return { etag, name, make: async () => bytes };
  }

  /** One document for all groups. */
  async whole(keys: readonly DocumentKey[], form: DocumentForm = 'json'): Promise<DocumentInPieces> {
    const described = keys.map((key) => this.#describe(key));
    const { builtIn, custom } = split(described);
    const part = await this.#builtInPart(
      { described: builtIn, pages: [...this.pages(keys).values()].flat() },
      form,
    );
    const others = this.#remote.openApiV2();
    const etag = hash([part.etag, digestsOf(custom), ...others.map((other) => other.etag)]);
    const source = this.#source;
    const more = function* (): Iterable<DocumentPart> {
      yield* customParts(source, custom);
      yield* remoteParts(part, others);
    };
    return { etag, pieces: () => piecesOf(part, more, form) };
  }

  #describe(key: DocumentKey): Described {
    return { key, resources: this.#registry.resources(key.group, key.version) };
  }

  #etag(described: Described, form: DocumentForm): Promise<string> {
    const { path, group } = described.key;
    const name = `${path} ${form}`;
    let known = this.#etags.get(name);
    if (known === undefined) {
      known = { group, etag: this.#hash(described, form) };
      this.#etags.set(name, known);
      // A failure must not stay.
      known.etag.catch(() => this.#etags.delete(name));
    }
    return known.etag;
  }

  /** Hashes the bytes of built-in documents. */
  async #hash(described: Described, form: DocumentForm): Promise<string> {
    if (!hasCustom(described)) return (await this.#builtInDocument(described, form)).etag;
    const { gitVersion, enums = true, cbor = false } = this.#source;
    const kind = `${form}${enums ? '' : ' without enums'}${cbor ? ' with CBOR' : ''}`;
    return hash([kind, described.key.path, gitVersion, digestsOf([described])]);
  }

  async #bytes(described: Described, form: DocumentForm, etag: string): Promise<Buffer> {
    if (!hasCustom(described)) return (await this.#builtInDocument(described, form)).bytes;
    const kept = this.#custom.get(etag);
    if (kept !== undefined) return kept;
    const made = await shared(this.#making, etag, () =>
      this.#encode({ described: [described], pages: [] }, form),
    );
    this.#custom.set(etag, made);
    return made;
  }

  #builtInDocument(described: Described, form: DocumentForm): Promise<Document> {
    const name = [described.key.path, form, ...described.resources.map(nameOf)].join(' ');
    return kept(this.#builtIn, name, () => this.#make({ described: [described], pages: [] }, form));
  }

  async #make(contents: Contents, form: DocumentForm): Promise<Document> {
    const bytes = await this.#encode(contents, form);
    return { bytes, etag: hash([bytes]) };
  }

  async #encode(contents: Contents, form: DocumentForm): Promise<Buffer> {
    const document = await buildDocument(this.#source, 'v3', contents);
    return form === 'json' ? toJsonInTurns(document) : Buffer.from(await encodeOpenApiV3(document));
  }

  #builtInPart(contents: Contents, form: DocumentForm): Promise<BuiltInPart> {
    const resources = contents.described.flatMap(({ key, resources }) => [
      key.path,
      ...resources.map(nameOf),
    ]);
    const name = [form, ...resources].join(' ');
    return kept(this.#builtInParts, name, () => makeBuiltInPart(this.#source, contents, form));
  }
}

const nameOf = ({ definition }: ServedResource): string => definition.resource;

const hasCustom = ({ resources }: Described): boolean =>
  resources.some(({ definition }) => definition.custom !== undefined);

/** Separates built-in and custom resources, and drops empty group versions. */
function split(described: readonly Described[]): { builtIn: Described[]; custom: Described[] } {
  const choose = (isCustom: boolean): Described[] =>
    described.flatMap(({ key, resources }) => {
      const chosen = resources.filter(({ definition }) => (definition.custom !== undefined) === isCustom);
      return chosen.length === 0 ? [] : [{ key, resources: chosen }];
    });
  return { builtIn: choose(false), custom: choose(true) };
}

/** All that changes how definitions are published. */
const digestsOf = (described: readonly Described[]): string =>
  JSON.stringify([
    PUBLICATION,
    ...described.flatMap(({ key, resources }) =>
      resources.map(({ definition: { resource, custom } }) => [key.path, resource, custom?.digest ?? '']),
    ),
  ]);

/** Makes a value once and keeps it, unless making it fails. */
function kept<Value>(
  values: Map<string, Promise<Value>>,
  name: string,
  make: () => Promise<Value>,
): Promise<Value> {
  let value = values.get(name);
  if (value === undefined) {
    value = make();
    values.set(name, value);
    value.catch(() => values.delete(name));
  }
  return value;
}

/** Makes a value once for all concurrent callers. */
async function shared<Value>(
  making: Map<string, Promise<Value>>,
  name: string,
  make: () => Promise<Value>,
): Promise<Value> {
  try {
    return await kept(making, name, make);
  } finally {
    making.delete(name);
  }
}
