import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { Pace } from '../../util/turns.ts';
import { indexFile, type Piece } from './file-index.ts';
import { inOrder, type UnorderedPart } from './in-order.ts';
import { PieceShaper, type ShapedPieces } from './piece-shaper.ts';
import { Shaped, type Shapes } from './shapes.ts';
import { ShapingThreads } from './shaping-threads.ts';
import type { Source, SourcePart, Unread } from './source.ts';
import { HISTORY_SUFFIX } from './yaml-output.ts';

interface FileParts {
  readonly shapes: Shapes;
  readonly signal: AbortSignal;
}

interface FoundPieces {
  readonly pieces: readonly Piece[];
  readonly unread: readonly Unread[];
}

interface ShapedPart extends ShapedPieces {
  readonly part: UnorderedPart<Piece>;
}

/** Fewer are shaped before a thread has begun. */
const LEAST_FOR_THREADS = 2000;

/**
 * A file of YAML or JSON, or a folder of them, of any size: a first pass finds where each object is. What cannot be read is reported,
 * and does not keep the rest from being read.
 */
export class FileSource implements Source {
  readonly isPartial = true;
  readonly unread: Unread[] = [];
  readonly leftOut: readonly string[] = [];
  uids: ReadonlySet<string> | undefined;
  readonly historyFile: string;
  readonly #path: string;
  readonly #parts: FileParts;
  readonly #covered = new Set<string>();
  #index: FoundPieces | undefined;

  constructor(path: string, parts: FileParts) {
    this.#path = path;
    this.#parts = parts;
    this.historyFile = statSync(path).isDirectory()
      ? join(path, `all${HISTORY_SUFFIX}`)
      : `${path.replace(/\.[a-z]+$/, '')}${HISTORY_SUFFIX}`;
  }

  async *read(): AsyncGenerator<SourcePart> {
    this.#index ??= await this.#findPieces();
    const { pieces, unread } = this.#index;
    const uids = pieces.map(({ uid }) => uid).filter((uid) => uid !== undefined);
    if (uids.length === pieces.length && unread.length === 0) this.uids = new Set(uids);
    this.unread.splice(0, Number.POSITIVE_INFINITY, ...unread);
    const parts = inOrder(pieces, this.#parts.shapes);
    const shaped = pieces.length < LEAST_FOR_THREADS ? this.#shapeHere(parts) : this.#shapeAside(parts);
    for await (const { part, taken, unread: more } of shaped) {
      this.unread.push(...more);
      for (const one of taken)
        if (one instanceof Shaped) this.#covered.add(scopeOf(one.key, one.key.namespace));
      yield { label: part.label, objects: taken, remaining: part.remaining };
    }
  }

  /** A file that has objects of a namespace may have none of another. It has all namespaces only if it has the whole cluster. */
  covers({ group, resource, namespace }: ObjectKey): boolean {
    const isNamespaces = group === '' && resource === 'namespaces';
    return !isNamespaces && this.#covered.has(scopeOf({ group, resource }, namespace));
  }

  async close(): Promise<void> {}

  async #findPieces(): Promise<FoundPieces> {
    const pieces: Piece[] = [];
    const unread: Unread[] = [];
    const pace = new Pace();
    for (const path of filesOf(this.#path))
      for (const found of indexFile(path)) {
        if ('reason' in found) unread.push(found);
        else pieces.push(found);
        if (!pace.isOver()) continue;
        await pace.rest();
        this.#parts.signal.throwIfAborted();
      }
    return { pieces, unread };
  }

  async *#shapeHere(parts: Iterable<UnorderedPart<Piece>>): AsyncGenerator<ShapedPart> {
    const shaper = new PieceShaper(this.#parts.shapes);
    try {
      for (const part of parts) yield { part, ...shaper.shape(part.ones) };
    } finally {
      shaper.close();
    }
  }

  /** Definitions are shaped here, before threads begin that must know them. */
  async *#shapeAside(parts: Generator<UnorderedPart<Piece>>): AsyncGenerator<ShapedPart> {
    let next = parts.next();
    for (; next.value?.label === DEFINITION; next = parts.next()) yield* this.#shapeHere([next.value]);
    const threads = new ShapingThreads(this.#parts);
    try {
      const ahead: { readonly part: UnorderedPart<Piece>; readonly shaping: Promise<ShapedPieces> }[] = [];
      while (next.done !== true || ahead.length > 0) {
        for (; next.done !== true && ahead.length < threads.mostAhead; next = parts.next())
          ahead.push({ part: next.value, shaping: threads.shape(next.value.ones) });
        const first = ahead.shift();
        if (first !== undefined) yield { part: first.part, ...(await first.shaping) };
      }
    } finally {
      await threads.close();
    }
  }
}

const DEFINITION = 'CustomResourceDefinition';

const scopeOf = (resource: GroupResource, namespace: string): string =>
  `${toQualifiedResource(resource)} ${namespace}`;

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
}
