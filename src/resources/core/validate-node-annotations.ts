import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { part, parts } from '../../object/parts.ts';
import { each } from '../validation/values.ts';
import { goJsonError } from './go-json-error.ts';
import { validateTaints } from './validate-taints.ts';

const TAINTS = 'scheduler.alpha.kubernetes.io/taints';
const AVOID_PODS = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

/** Two annotations of old times hold JSON that schedulers read. */
export function validateNodeAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: string,
): FieldError[] {
  return [
    ...validateTaintsText(annotations[TAINTS] ?? '', path),
    ...validateAvoidPodsText(annotations[AVOID_PODS] ?? '', path),
  ];
}

function validateTaintsText(json: string, path: string): FieldError[] {
  if (json === '') return [];
  const error = goJsonError(json, 'array', '[]core.Taint');
  if (error !== undefined) return [invalidValue(path, TAINTS, error)];
  return validateTaints(parts({ taints: JSON.parse(json) }, 'taints'), `${path}.${TAINTS}`);
}

function validateAvoidPodsText(json: string, path: string): FieldError[] {
  if (json === '') return [];
  const error = goJsonError(json, 'object', 'v1.AvoidPods');
  if (error !== undefined) return [invalidValue(`${path}.AvoidPods`, AVOID_PODS, error)];
  const entries = parts(part({ avoid: JSON.parse(json) }, 'avoid'), 'preferAvoidPods');
  return each(entries, `${path}.${AVOID_PODS}`, validateEntry);
}

function validateEntry(entry: JsonObject, path: string): FieldError[] {
  const signature = part(entry, 'podSignature');
  if (signature.podController === undefined) return [required(`${path}.PodSignature`)];
  return part(signature, 'podController').controller === true
    ? []
    : [invalidValue(`${path}.PodSignature.PodController.Controller`, false, 'must point to a controller')];
}
