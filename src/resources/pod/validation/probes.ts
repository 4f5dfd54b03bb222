import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { checkHttpHeaderName } from '../../../object/formats.ts';
import { count, part, parts, text } from '../../cells.ts';
import { isNumber, validateNonNegative } from '../../validation/values.ts';
import { validatePortOrName } from './ports.ts';

/** Probes and lifecycle hooks: both are one action of several kinds. */

type Action = (action: JsonObject, path: string, gracePeriodSeconds: number) => FieldError[];

const EXEC: Action = (action, path) =>
  parts(action, 'command').length === 0 ? [required(`${path}.command`)] : [];

const HTTP_GET: Action = (action, path) => [
  ...validatePortOrName(action.port, `${path}.port`),
  ...parts(action, 'httpHeaders').flatMap(({ name }) =>
    eachInvalid(`${path}.httpHeaders`, name, checkHttpHeaderName(text(name))),
  ),
];

const PORT: Action = (action, path) => validatePortOrName(action.port, `${path}.port`);

const SLEEP: Action = (action, path, gracePeriodSeconds) => {
  const seconds = count(action.seconds);
  if (seconds > 0 && seconds <= gracePeriodSeconds) return [];
  const why = `must be greater than 0 and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`;
  return [invalidValue(path, seconds, why)];
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
  path: string,
  gracePeriodSeconds: number,
): FieldError[] {
  const given = actions.filter(([name]) => handler[name] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a handler type')];
  return given.flatMap(([name, validate], at) =>
    at === 0
      ? validate(part(handler, name), `${path}.${name}`, gracePeriodSeconds)
      : [forbiddenField(`${path}.${name}`, 'may not specify more than 1 handler type')],
  );
}

const COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function validateProbe(probe: JsonObject, path: string, gracePeriodSeconds: number): FieldError[] {
  const end = probe.terminationGracePeriodSeconds;
  return [
    ...validateHandler(probe, OF_PROBES, path, gracePeriodSeconds),
    ...COUNTS.flatMap((name) => validateNonNegative(`${path}.${name}`, probe[name])),
    ...(isNumber(end) && end <= 0
      ? [invalidValue(`${path}.terminationGracePeriodSeconds`, end, 'must be greater than 0')]
      : []),
  ];
}

/** All that starts, watches and stops a container that runs for long. */
export function validateProbesAndHooks(
  container: JsonObject,
  path: string,
  gracePeriodSeconds: number,
): FieldError[] {
  const hooks = part(container, 'lifecycle');
  return [
    ...['postStart', 'preStop']
      .filter((name) => hooks[name] !== undefined)
      .flatMap((name) =>
        validateHandler(part(hooks, name), OF_HOOKS, `${path}.lifecycle.${name}`, gracePeriodSeconds),
      ),
    ...['livenessProbe', 'readinessProbe', 'startupProbe']
      .filter((name) => container[name] !== undefined)
      .flatMap((name) => {
        const probe = part(container, name);
        const at = `${path}.${name}`;
        return [
          ...validateProbe(probe, at, gracePeriodSeconds),
          ...(name === 'readinessProbe' ? refuseGracePeriod(probe, at) : requireOneSuccess(probe, at)),
        ];
      }),
  ];
}

/** A container that failed is restarted or not: a second success cannot mean anything. */
function requireOneSuccess(probe: JsonObject, path: string): FieldError[] {
  return probe.successThreshold === 1
    ? []
    : [invalidValue(`${path}.successThreshold`, probe.successThreshold ?? 0, 'must be 1')];
}

/** Nothing ends when a container is not ready. */
function refuseGracePeriod(probe: JsonObject, path: string): FieldError[] {
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds === undefined) return [];
  return [
    invalidValue(`${path}.terminationGracePeriodSeconds`, seconds, 'must not be set for readinessProbes'),
  ];
}
