import type {
  Container,
  ExecAction,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Probe,
  ProbeHandler,
  SleepAction,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkHttpHeaderName } from '../../../object/text-formats.ts';
import { mustAllBeNonNegative } from '../../rules/numbers.ts';
import { mustBePortOrName } from './ports.ts';

/** Probes and lifecycle hooks: both are one action of several kinds. */

function validateExec(at: FieldPath, { command = [] }: ExecAction): void {
  if (command.length === 0) at.field('command').required();
}

function validateHttpGet(at: FieldPath, { port, httpHeaders = [] }: HTTPGetAction): void {
  mustBePortOrName(at.field('port'), port);
  for (const { name = '' } of httpHeaders)
    at.field('httpHeaders').invalidFor(name, checkHttpHeaderName(name));
}

function validateSleep(at: FieldPath, { seconds = 0 }: SleepAction, gracePeriodSeconds: number): void {
  const mayBeZero = at.isOn('PodLifecycleSleepActionAllowZero');
  if (seconds >= (mayBeZero ? 0 : 1) && seconds <= gracePeriodSeconds) return;
  const least = mayBeZero ? 'non-negative' : 'greater than 0';
  at.invalid(seconds, `must be ${least} and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`);
}

/** In order of precedence: of two actions, the second is refused. */
const ACTIONS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

type Handler = ProbeHandler & LifecycleHandler;

function validateHandler(at: FieldPath, handler: Handler, gracePeriodSeconds: number): void {
  const [first, ...others] = ACTIONS.filter((kind) => handler[kind] !== undefined);
  if (first === undefined) at.required('must specify a handler type');
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (exec !== undefined) validateExec(at.field('exec'), exec);
  if (first === 'httpGet' && httpGet !== undefined) validateHttpGet(at.field('httpGet'), httpGet);
  if (first === 'tcpSocket') mustBePortOrName(at.field('tcpSocket').field('port'), tcpSocket?.port);
  if (first === 'grpc') mustBePortOrName(at.field('grpc').field('port'), grpc?.port);
  if (first === 'sleep' && sleep !== undefined) validateSleep(at.field('sleep'), sleep, gracePeriodSeconds);
  for (const other of others) at.field(other).forbidden('may not specify more than 1 handler type');
}

const COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function validateProbe(at: FieldPath, probe: Probe, gracePeriodSeconds: number): void {
  validateHandler(at, probe, gracePeriodSeconds);
  mustAllBeNonNegative(at, probe, COUNTS);
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds !== undefined && seconds <= 0)
    at.field('terminationGracePeriodSeconds').invalid(seconds, 'must be greater than 0');
}

const HOOKS = ['postStart', 'preStop'] as const;
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** All that starts, watches and stops a container that runs for long. */
export function validateProbesAndHooks(
  at: FieldPath,
  container: Container,
  gracePeriodSeconds: number,
): void {
  for (const name of HOOKS) {
    const hook = container.lifecycle?.[name];
    if (hook !== undefined) validateHandler(at.field('lifecycle').field(name), hook, gracePeriodSeconds);
  }
  for (const name of PROBES) {
    const probe = container[name];
    if (probe === undefined) continue;
    validateProbe(at.field(name), probe, gracePeriodSeconds);
    if (name === 'readinessProbe') refuseGracePeriod(at.field(name), probe);
    else mustNeedOneSuccess(at.field(name), probe);
  }
}

const WINDOWS_SIGNALS = ['SIGKILL', 'SIGTERM'];

/** Signals differ between operating systems, so that the pod must name its own. */
export function validateStopSignal(at: FieldPath, lifecycle: Lifecycle | undefined, os: string): void {
  const signal = lifecycle?.stopSignal;
  if (signal === undefined) return;
  if (os === '') at.forbidden('may not be set for containers with empty `spec.os.name`');
  else if (os === 'windows' && !WINDOWS_SIGNALS.includes(signal)) at.notSupported(signal, WINDOWS_SIGNALS);
}

/** A container that failed is restarted or not: a second success cannot mean anything. */
function mustNeedOneSuccess(at: FieldPath, { successThreshold = 0 }: Probe): void {
  if (successThreshold !== 1) at.field('successThreshold').invalid(successThreshold, 'must be 1');
}

/** A failing readiness probe ends nothing. */
function refuseGracePeriod(at: FieldPath, { terminationGracePeriodSeconds: seconds }: Probe): void {
  if (seconds !== undefined)
    at.field('terminationGracePeriodSeconds').invalid(seconds, 'must not be set for readinessProbes');
}
