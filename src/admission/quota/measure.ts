import type { GroupResource, ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { parseQuantity, type Quantity } from '../../object/quantity.ts';
import type { ResourceList } from '../../object/resource-list.ts';
import type { AdmissionOperation } from '../admission.ts';
import type { ScopeSelector } from './quota.ts';

/** How the objects of one resource, which are of type `T`, are counted (Kubernetes: apiserver/pkg/quota/v1, pkg/quota/v1/evaluator). */
export interface Measure<T extends ApiObject = ApiObject> {
  readonly resource: ResourceOf<T>;
  readonly operations: readonly AdmissionOperation[];
  /** Whether a quota's limit of this name is one of these objects. */
  counts(name: string): boolean;
  usage(object: T, now: Date): ResourceList;
  /** Whether an object that was changed may use less than before, by its values for field selectors. Absent: never. */
  mayHaveShrunk?(fields: Readonly<Record<string, string>>): boolean;
  /** What an object must say where these names are limited; undefined: it says it all. */
  missing?(names: readonly string[], object: T): string | undefined;
  /** Absent: scopes are of other resources. */
  isInScope?(selector: ScopeSelector, object: T): boolean;
}

/** `count/deployments.apps`, `count/pods`. */
export const countName = ({ group, resource }: GroupResource): string =>
  group === '' ? `count/${resource}` : `count/${resource}.${group}`;

export const amount = (count: number): Quantity =>
  parseQuantity(String(count)) ?? { nanos: 0n, format: 'DecimalSI' };

export const ONE = amount(1);
export const ZERO = amount(0);
