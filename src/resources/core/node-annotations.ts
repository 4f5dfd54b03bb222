import type { JsonObject, JsonValue, ObjectMeta } from '../../api/object-meta.ts';
import type { Taint } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { objectOf, objectsOf, text } from '../../object/parts.ts';
import { goJsonError } from './go-json-error.ts';
import { validateTaints } from './taints.ts';

const TAINTS = 'scheduler.alpha.kubernetes.io/taints';
const AVOID_PODS = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

/** Two annotations of old times hold JSON that schedulers read. Nothing has checked what types its fields are of. */
export function validateNodeAnnotations(at: FieldPath, annotations: ObjectMeta['annotations']): void {
  validateTaintsText(at, annotations?.[TAINTS] ?? '');
  validateAvoidPodsText(at, annotations?.[AVOID_PODS] ?? '');
}

function validateTaintsText(at: FieldPath, json: string): void {
  if (json === '') return;
  const error = goJsonError(json, 'array', '[]core.Taint');
  if (error !== undefined) at.invalid(TAINTS, error);
  else validateTaints(at.field(TAINTS), objectsOf(JSON.parse(json)).map(toTaint));
}

function toTaint(value: JsonValue): Taint {
  const { key, value: label, effect, timeAdded } = objectOf(value);
  return {
    key: text(key),
    value: text(label),
    effect: text(effect),
    ...(text(timeAdded) === '' ? {} : { timeAdded: text(timeAdded) }),
  };
}

function validateAvoidPodsText(at: FieldPath, json: string): void {
  if (json === '') return;
  const error = goJsonError(json, 'object', 'v1.AvoidPods');
  if (error !== undefined) {
    at.field('AvoidPods').invalid(AVOID_PODS, error);
    return;
  }
  const { preferAvoidPods } = objectOf(JSON.parse(json));
  for (const [path, entry] of at.field(AVOID_PODS).each(objectsOf(preferAvoidPods)))
    validateAvoidance(path.field('PodSignature'), entry);
}

/** The pods to be avoided are those of a controller. */
function validateAvoidance(at: FieldPath, entry: JsonObject): void {
  const { podController } = objectOf(objectOf(entry).podSignature);
  if (podController === undefined || podController === null) at.required();
  else if (objectOf(podController).controller !== true)
    at.field('PodController').field('Controller').invalid(false, 'must point to a controller');
}
