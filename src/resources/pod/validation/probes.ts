import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { addInvalid, forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { checkHttpHeaderName } from '../../../object/formats.ts';
import { count, objectOf, objectsOf, text } from '../../../object/parts.ts';
import { addNonNegative, isNumber } from '../../validation/values.ts';
import { validatePortOrName } from './ports.ts';

/** Probes and lifecycle hooks: both are one action of several kinds. */

interface Place {
  readonly path: string;
  readonly gracePeriodSeconds: number;
}

type Action = (action: JsonObject, place: Place, errors: FieldError[]) => void;

const EXEC: Action = (action, { path }, errors) => {
  if (objectsOf(action.command).length === 0) errors.push(required(`${path}.command`));
};

const HTTP_GET: Action = (action, { path }, errors) => {
  validatePortOrName(action.port, `${path}.port`, errors);
  for (const { name } of objectsOf(action.httpHeaders))
    addInvalid(errors, `${path}.httpHeaders`, name, checkHttpHeaderName(text(name)));
};

const PORT: Action = (action, { path }, errors) => validatePortOrName(action.port, `${path}.port`, errors);

const SLEEP: Action = (action, { path, gracePeriodSeconds }, errors) => {
  const seconds = count(action.seconds);
  if (seconds > 0 && seconds <= gracePeriodSeconds) return;
  const why = `must be greater than 0 and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`;
  errors.push(invalidValue(path, seconds, why));
};

type Actions = readonly (readonly [string, Action])[];
const OF_BOTH: Actions = [
  ['exec', EXEC],
  ['httpGet', HTTP_GET],
  ['tcpSocket', PORT],
];
const OF_PROBES: Actions = [...OF_BOTH, ['grpc', PORT]];
const OF_HOOKS: Actions = [...OF_BOTH, ['sleep', SLEEP]];

function validateHandler(
  handler: JsonObject,
  actions: Actions,
  { path, gracePeriodSeconds }: Place,
  errors: FieldError[],
): void {
  let given = 0;
  for (const [name, validate] of actions) {
    if (handler[name] === undefined) continue;
    given += 1;
    const at = `${path}.${name}`;
    if (given === 1) validate(objectOf(handler[name]), { path: at, gracePeriodSeconds }, errors);
    else errors.push(forbiddenField(at, 'may not specify more than 1 handler type'));
  }
  if (given === 0) errors.push(required(path, 'must specify a handler type'));
}

const COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function validateProbe(probe: JsonObject, place: Place, errors: FieldError[]): void {
  const { path } = place;
  validateHandler(probe, OF_PROBES, place, errors);
  for (const name of COUNTS) addNonNegative(errors, path, name, probe[name]);
  const end = probe.terminationGracePeriodSeconds;
  if (isNumber(end) && end <= 0)
    errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, end, 'must be greater than 0'));
}

const HOOKS = ['postStart', 'preStop'];
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** All that starts, watches and stops a container that runs for long. */
export function validateProbesAndHooks(
  container: JsonObject,
  path: string,
  gracePeriodSeconds: number,
  errors: FieldError[],
): void {
  if (container.lifecycle !== undefined) {
    const hooks = objectOf(container.lifecycle);
    for (const name of HOOKS) {
      if (hooks[name] === undefined) continue;
      const place = { path: `${path}.lifecycle.${name}`, gracePeriodSeconds };
      validateHandler(objectOf(hooks[name]), OF_HOOKS, place, errors);
    }
  }
  for (const name of PROBES) {
    if (container[name] === undefined) continue;
    const probe = objectOf(container[name]);
    const place = { path: `${path}.${name}`, gracePeriodSeconds };
    validateProbe(probe, place, errors);
    if (name === 'readinessProbe') refuseGracePeriod(probe, place.path, errors);
    else requireOneSuccess(probe, place.path, errors);
  }
}

/** A container that failed is restarted or not: a second success cannot mean anything. */
function requireOneSuccess(probe: JsonObject, path: string, errors: FieldError[]): void {
  if (probe.successThreshold !== 1)
    errors.push(invalidValue(`${path}.successThreshold`, probe.successThreshold ?? 0, 'must be 1'));
}

/** Nothing ends when a container is not ready. */
function refuseGracePeriod(probe: JsonObject, path: string, errors: FieldError[]): void {
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds === undefined) return;
  const why = 'must not be set for readinessProbes';
  errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, seconds, why));
}
