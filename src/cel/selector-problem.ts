import type { Environment } from '@marcbachmann/cel-js';
import type { Minor } from '../api/emulation.ts';
import { type Gates, newestForExpressions } from '../api/feature-gates.ts';
import { createEnvironment } from './environment.ts';
import { describeIssue, typeText } from './issues.ts';
import type { CheckedNode } from './library-internals.ts';
import { CelError, compileIn } from './program.ts';

/**
 * Expressions that select devices. They are evaluated by the scheduler alone; here they are compiled before they are stored
 * (Kubernetes: dynamic-resource-allocation/cel). All expressions know one device:
 *
 *   device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "a100"
 */
interface Scope {
  readonly environment: Environment;
  readonly names: ReadonlySet<string>;
}

const scopes = new Map<string, Scope>();

/** `isShared`, `hasLists`: the features DRAConsumableCapacity and DRAListTypeAttributes. */
function scopeOf(isShared: boolean, hasLists: boolean): Scope {
  const key = `${isShared} ${hasLists}`;
  const known = scopes.get(key);
  if (known !== undefined) return known;
  const environment = createEnvironment();
  environment.registerVariable({
    name: 'device',
    schema: {
      driver: 'string',
      attributes: 'map<string, map<string, dyn>>',
      capacity: 'map<string, map<string, kubernetes.Quantity>>',
      ...(isShared ? { allowMultipleAllocations: 'bool' } : {}),
    },
  });
  if (hasLists) environment.registerFunction('dyn.includes(dyn): bool', notHere);
  const names = new Set(environment.getDefinitions().functions.map(({ name }) => name));
  const scope = { environment, names };
  scopes.set(key, scope);
  return scope;
}

/** Selectors had the functions for versions before other expressions did. */
const OWN_NEWEST: Minor = 33;

/** The checked expression, or why it cannot be stored. */
export function compileSelector(
  expression: string,
  isOn: Gates,
): { readonly tree: CheckedNode; readonly problem?: undefined } | { readonly problem: string } {
  const scope = scopeOf(isOn('DRAConsumableCapacity'), isOn('DRAListTypeAttributes'));
  const newest = newestForExpressions(isOn);
  try {
    const { type, tree } = compileIn(
      scope.environment,
      expression,
      newest < OWN_NEWEST ? OWN_NEWEST : newest,
    );
    // The check has noted the types in the tree.
    if (type === 'bool' || type === 'dyn') return { tree: tree as unknown as CheckedNode };
    const text = type === '$device' ? 'kubernetes.DRADevice' : typeText(type);
    return { problem: `must evaluate to bool or the unknown type, not ${text}` };
  } catch (error) {
    const issue = error instanceof CelError ? error : new CelError(String(error));
    const text = describeIssue(issue, expression, (name) => scope.names.has(name));
    return { problem: `compilation failed: ${text}` };
  }
}

function notHere(): boolean {
  throw new CelError('devices are selected by the scheduler');
}
