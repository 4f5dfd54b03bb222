import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  eachInvalid,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../object/field-errors.ts';
import { checkName } from '../../../object/formats.ts';
import { part, text } from '../../../object/parts.ts';
import { validateImmutableField } from '../../validation/immutable.ts';
import { validateObjectReference } from './object-reference.ts';

const MAX_CONTROLLER_BYTES = 250;
const CONTROLLER = 'spec.controller';
/** What RFC 3986 allows in a path. */
const PATH_FORMAT = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const PATH = new RegExp(`^${PATH_FORMAT}$`);

export function validateIngressClass(ingressClass: ApiObject): FieldError[] {
  const spec = part(ingressClass, 'spec');
  const errors = validateController(text(spec.controller));
  if (spec.parameters === undefined) return errors;
  return [...errors, ...validateParameters(part(spec, 'parameters'), 'spec.parameters')];
}

export const validateIngressClassUpdate = (ingressClass: ApiObject, old: ApiObject): FieldError[] =>
  validateImmutableField(CONTROLLER, part(ingressClass, 'spec').controller, part(old, 'spec').controller);

/** `acme.io/foo` */
function validateController(controller: string): FieldError[] {
  const errors =
    Buffer.byteLength(controller) > MAX_CONTROLLER_BYTES ? [tooLong(CONTROLLER, MAX_CONTROLLER_BYTES)] : [];
  if (controller === '') return [required(CONTROLLER)];
  const slash = controller.indexOf('/');
  const host = controller.slice(0, Math.max(slash, 0));
  const path = controller.slice(slash + 1);
  if (host === '' || path === '') {
    const why = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return [...errors, invalidValue(CONTROLLER, controller, why)];
  }
  errors.push(...eachInvalid(CONTROLLER, host, checkName(host, 'dns-subdomain')));
  if (PATH.test(path)) return errors;
  const why = `Invalid path (regex used for validation is '${PATH_FORMAT}')`;
  return [...errors, invalidValue(CONTROLLER, path, why)];
}

function validateParameters(parameters: JsonObject, path: string): FieldError[] {
  const errors = validateObjectReference(parameters, path);
  const { namespace } = parameters;
  const scope = text(parameters.scope);
  if (scope === '') return [...errors, required(`${path}.scope`)];
  if (scope !== 'Cluster' && scope !== 'Namespace') {
    return [...errors, notSupported(`${path}.scope`, scope, ['Cluster', 'Namespace'])];
  }
  if (scope === 'Cluster') {
    if (namespace === undefined) return errors;
    return [...errors, forbiddenField(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'")];
  }
  if (namespace === undefined) {
    return [...errors, required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'")];
  }
  const name = text(namespace);
  return [...errors, ...eachInvalid(`${path}.namespace`, name, checkName(name, 'dns-label'))];
}
