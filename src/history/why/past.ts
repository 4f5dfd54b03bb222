import type { JsonObject } from '../../api/json.ts';
import type { GroupResource } from '../../api/names.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import type { WriteVerb } from '../../storage/revision-log.ts';

/** What explanations need to know of history. */

/** One row of the log, with the states before and after it, which are parsed on first use. */
export interface PastWrite {
  readonly revision: Revision;
  readonly verb: WriteVerb;
  readonly key: ObjectKey;
  readonly uid: string;
  readonly at: Date;
  readonly user: string;
  readonly userAgent: string;
  readonly manager: string;
  readonly requestId: string;
  /** The state before. Undefined for a create, and where it is not kept or cannot be read. */
  readonly was: JsonObject | undefined;
  /** The state since; of a delete, the last one. Undefined where it cannot be read. */
  readonly is: JsonObject | undefined;
}

/** Where to search: before `before`, and after `after` where that is given. */
export interface Stretch {
  readonly before: Revision;
  readonly after?: Revision;
}

/** Past searches history. Every search goes by an index, is bounded, brings the newest first, and ends when its reader does. */
export interface Past {
  /** The writes of all objects of a name, with any uid. */
  ofName(key: ObjectKey, stretch: Stretch): AsyncIterable<PastWrite>;
  /** The writes of a resource in a namespace that are not far back; '' for cluster-scoped objects. */
  ofResource(resource: GroupResource, namespace: string, stretch: Stretch): AsyncIterable<PastWrite>;
  /** The writes of a user in a namespace that are near. */
  ofAuthor(user: string, namespace: string, stretch: Stretch): AsyncIterable<PastWrite>;
  /** Returns where the objects of a kind are; undefined when it is not served. */
  find(reference: { readonly group: string; readonly kind: string }): KnownResource | undefined;
  /** Says where unfound writes are: `not in the history that is kept, which begins with revision 12`. */
  beyond(): string;
}

export interface KnownResource {
  readonly resource: GroupResource;
  readonly namespaced: boolean;
}

/**
 * Confidence says how sure a cause is. `certain`: identities and numbers in the objects show it. `likely`: what the controller is
 * known to do, and the order of the writes. `possible`: owners and order alone.
 */
export type Confidence = 'certain' | 'likely' | 'possible';

export interface Cause {
  readonly kind: 'cause';
  readonly write: PastWrite;
  /** In words. Names only what the effect or the cause names. */
  readonly evidence: readonly string[];
  readonly confidence: Confidence;
}

/** Why the search ends, in words. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly why: string;
}

export type Finding = Cause | Unknown;

/** Returns undefined for a write that it does not apply to. */
export type Rule = (effect: PastWrite, past: Past) => Promise<Finding | undefined> | Finding | undefined;

export const cause = (write: PastWrite, confidence: Confidence, ...evidence: readonly string[]): Cause => ({
  kind: 'cause',
  write,
  confidence,
  evidence,
});

export const unknown = (why: string): Unknown => ({ kind: 'unknown', why });

/** Returns the first finding of rules tried in this order. */
export const firstOf =
  (...rules: readonly Rule[]): Rule =>
  async (effect, past) => {
    for (const rule of rules) {
      const finding = await rule(effect, past);
      if (finding !== undefined) return finding;
    }
    return undefined;
  };
