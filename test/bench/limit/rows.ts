import { randomUUID } from 'node:crypto';
import type { ObjectKey } from '../../../src/storage/key.ts';
import {
  BatchCommit,
  type PendingWrite,
  toPendingWrite,
} from '../../../src/storage/postgres/commit/commit.ts';
import { type Connection, connectWritable } from '../../../src/storage/postgres/connection/connection.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import type { WriteVerb } from '../../../src/storage/revision-log.ts';
import { compileTemplate, type Template } from '../load/template.ts';
import { KINDS, type KindName } from '../manifests.ts';

/** Rows like those the server writes, without the server. */
export interface RowTemplate {
  readonly kind: KindName;
  readonly namespace: string;
  /** The name of row `$N`. */
  readonly name: string;
  /** The object as it is stored, a template. */
  readonly json: string;
  /** As in {@link Load}. */
  readonly nodes?: number;
}

const PATIENCE_MS = 30_000;
const ATTRIBUTION = {
  username: 'kubernetes-admin',
  userAgent: 'bench',
  sourceAddress: '127.0.0.1',
  fieldManager: 'bench',
};

/** An answer of the API made into the template of rows like it: names, uids and nodes differ, the version is the row's. */
export function toRowTemplate(kind: KindName, namespace: string, name: string, answer: string): RowTemplate {
  const object: { metadata: Record<string, unknown>; spec?: Record<string, unknown> } = JSON.parse(answer);
  delete object.metadata.resourceVersion;
  object.metadata.name = name;
  object.metadata.uid = '$U';
  if (object.spec?.nodeName !== undefined) object.spec.nodeName = 'node-$M';
  return { kind, namespace, name, json: JSON.stringify(object) };
}

/** Writes rows through commit_revisions, one batch after the other. Knows where each of its objects is. */
export class RowWriter implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #commits: BatchCommit;
  readonly #template: RowTemplate;
  readonly #name: Template;
  readonly #json: Template;
  readonly #revisions = new Map<number, Revision>();
  readonly #uids = new Map<number, string>();

  static async connect(url: string, template: RowTemplate): Promise<RowWriter> {
    const connection = await connectWritable({ urls: [url], poolSize: 1 }, 'bench');
    return new RowWriter(connection, await BatchCommit.prepare(connection), template);
  }

  private constructor(connection: Connection, commits: BatchCommit, template: RowTemplate) {
    this.#connection = connection;
    this.#commits = commits;
    this.#template = template;
    this.#name = compileTemplate(template.name);
    this.#json = compileTemplate(template.json);
  }

  /** @throws Error when a row was refused: these objects have no other writer */
  async write(verb: WriteVerb, objects: readonly number[]): Promise<void> {
    const outcomes = await this.#commits.commit(
      objects.map((object) => this.#toWrite(verb, object)),
      {
        seen: undefined,
        now: new Date(),
      },
    );
    for (const [at, object] of objects.entries()) {
      const outcome = outcomes[at];
      if (outcome === undefined || !('accepted' in outcome)) throw new Error(`${verb} ${object} was refused`);
      if (verb === 'delete') this.#revisions.delete(object);
      else this.#revisions.set(object, outcome.accepted);
    }
  }

  /** Takes over an object that others have written. */
  take(object: number, { uid, revision }: { readonly uid: string; readonly revision: Revision }): void {
    this.#revisions.set(object, revision);
    this.#uids.set(object, uid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  #toWrite(verb: WriteVerb, object: number): PendingWrite {
    const { kind, namespace, nodes = 1000 } = this.#template;
    const key: ObjectKey = {
      group: KINDS[kind].group,
      resource: kind,
      namespace: kind === 'nodes' ? '' : namespace,
      name: this.#name({ object }),
    };
    const uid = this.#uids.get(object) ?? randomUUID();
    this.#uids.set(object, uid);
    const json = Buffer.from(this.#json({ object, nodes, uid }));
    const write = {
      verb,
      key,
      uid,
      expected: this.#revisions.get(object),
      json,
      // Many equal ones would lie in one bucket of their index.
      attribution: { ...ATTRIBUTION, requestId: randomUUID() },
    };
    return toPendingWrite(write, PATIENCE_MS, { resolve: () => {}, reject: () => {} });
  }
}

/** `count` numbers from `first`, in slices of `size`. */
export function* slices(first: number, count: number, size: number): Generator<number[]> {
  for (let at = 0; at < count; at += size) {
    yield Array.from({ length: Math.min(size, count - at) }, (_, index) => first + at + index);
  }
}
