import type { ApiObject, JsonValue } from '../api/object-meta.ts';

/**
 * Fields of features that are off. A caller who sets one has it dropped without a word, as Kubernetes does, unless the
 * object had it already: then the feature was on when it was stored, and what is there stays and may be changed.
 */
export interface GatedFeature {
  readonly gate: string;
  /** Dotted, through every item of the lists on the way: `spec.template.spec.containers.resizePolicy`. */
  readonly paths: readonly string[];
  /** Other paths of the old object that show that it uses the feature. */
  readonly usedBy?: readonly string[];
  /** Drops what the paths lead to, where that is more than taking fields away. */
  drop?(object: ApiObject): void;
  /** What is no use of the feature, and what the field becomes instead of going. */
  readonly neutral?: JsonValue;
}
