import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { equal } from '../../../object/equality.ts';
import { invalidValue } from '../../../object/field-errors.ts';
import { goStrings, shown } from '../../../object/go-value.ts';
import { part, parts } from '../../../object/parts.ts';
import { stringMap } from '../../validation/values.ts';

/** While gates hold a pod back, the nodes it may run on can become fewer, but not others. */
export function validateGatedPlacement(spec: JsonObject, old: JsonObject): FieldError[] {
  return [...validateNodeLabels(spec, old), ...validateNodeAffinity(spec, old)];
}

function validateNodeLabels(spec: JsonObject, old: JsonObject): FieldError[] {
  const labels = stringMap(spec, 'nodeSelector');
  const kept = Object.entries(stringMap(old, 'nodeSelector')).every(([key, value]) => labels[key] === value);
  const why = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return kept ? [] : [invalidValue('spec.nodeSelector', shown(goStrings(labels)), why)];
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

const termsOf = (spec: JsonObject): JsonObject[] =>
  parts(part(spec, 'affinity', 'nodeAffinity', REQUIRED), 'nodeSelectorTerms');

function validateNodeAffinity(spec: JsonObject, old: JsonObject): FieldError[] {
  const path = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
  const terms = termsOf(spec);
  const before = termsOf(old);
  // Terms are alternatives: one more would let the pod onto more nodes.
  if (before.length > 0 && before.length !== terms.length) {
    const why = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    return [invalidValue(path, terms, why)];
  }
  return before.flatMap((term, at) => {
    if (isNarrower(terms[at] ?? {}, term)) return [];
    const why = 'only additions are allowed (no mutations or deletions)';
    return [invalidValue(`${path}[${at}]`, terms[at], why)];
  });
}

/** A term without requirements matches nothing, and must stay so. */
function isNarrower(term: JsonObject, old: JsonObject): boolean {
  const lists = ['matchExpressions', 'matchFields'];
  if (lists.every((list) => parts(old, list).length === 0))
    return lists.every((list) => parts(term, list).length === 0);
  return lists.every((list) => beginsWith(parts(term, list), parts(old, list)));
}

const beginsWith = (list: readonly JsonValue[], start: readonly JsonValue[]): boolean =>
  equal(list.slice(0, start.length), start);
