import type { TypeLibrary } from '../../api/idl/types.ts';
import { toApiVersion } from '../../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { internalError, StatusError } from '../../api/status.ts';
import type { Bindings } from '../../cel/policies/compiler.ts';
import { toApplyConfiguration, toJsonPatch } from '../../cel/policies/policy-patches.ts';
import { type Compiled, toCel } from '../../cel/program.ts';
import { applyJsonPatch } from '../../object/json-patch.ts';
import { isObject } from '../../object/json-values.ts';
import { atomicsIn } from '../../object/managed-fields/atomics.ts';
import { checkConfig } from '../../object/managed-fields/check-config.ts';
import { mergeConfig } from '../../object/managed-fields/merge-config.ts';
import { shapeOfMessage } from '../../object/managed-fields/shape.ts';
import { TestFailed } from '../../object/patch-error.ts';
import { errorText } from '../../util/error-text.ts';
import type { Pace } from '../../util/turns.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { PolicyErrorType } from '../admission-metrics.ts';
import { fromMatchedForm, type MatchedForm, schemaOfForm, toMatchedForm } from '../request-form.ts';
import { Evaluation } from './evaluation.ts';
import type { Mutation } from './mutating.ts';
import { POLICY_BUDGET } from './policy-judge.ts';
import type { Rights } from './rights.ts';

/** What a mutation works on. */
interface MutationContext {
  readonly attributes: AdmissionAttributes & { readonly object: ApiObject };
  readonly form: MatchedForm;
  /** All variables but the object. */
  readonly given: Bindings;
  readonly variables: ReadonlyMap<string, Compiled>;
  readonly rights: Rights;
  readonly types: TypeLibrary;
  readonly pace: Pace;
}

/**
 * The object as a mutation leaves it, in the form that plugins work on. The expression sees the object as the mutations before
 * left it (Kubernetes: admission/plugin/policy/mutating, dispatchOne).
 * @throws StatusError that refuses the write under any failurePolicy
 * @throws Error for which failurePolicy decides
 */
export async function mutate({ kind, patch }: Mutation, context: MutationContext): Promise<ApiObject> {
  const { attributes, form, pace } = context;
  const current = (await toMatchedForm(attributes, form, attributes.object)) ?? {};
  const value = await evaluate(patch, current, context);
  if (pace.isOver()) await pace.rest();
  return kind === 'JSON patch' ? patched(current, value, context) : merged(current, value, context);
}

async function evaluate(
  patch: Compiled,
  current: JsonObject,
  { given, variables, rights }: MutationContext,
): Promise<unknown> {
  if (patch.program === undefined) throw new Error(patch.problem);
  const bindings = { ...given, object: toCel(current) };
  const outcome = await new Evaluation(bindings, variables, { rights, budget: POLICY_BUDGET }).run(patch);
  if ('error' in outcome) throw new Error(outcome.error);
  return outcome.value;
}

/** Merges the configuration as server-side apply does, without owners. It must not replace anything as one value. */
async function merged(current: JsonObject, value: unknown, context: MutationContext): Promise<ApiObject> {
  const { attributes, form, types } = context;
  const schema = schemaOfForm(attributes, form, types);
  const { kind, apiVersion } = current;
  const named = {
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
  };
  const config = { ...toApplyConfiguration(value), ...named };
  const problems = checkConfig(config, schema);
  if (problems.length > 0)
    throw new Error(
      `error applying patch: failed to convert patch object to typed object: ${listed(problems)}`,
    );
  const atomics = atomicsIn(config, schema);
  if (atomics.length > 0)
    throw new Error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    );
  const next = mergeConfig(current, config, shapeOfMessage(schema));
  return fromMatchedForm(attributes, form, { value: next, types });
}

const listed = (problems: readonly string[]): string =>
  problems.length === 1 ? (problems[0] ?? '') : `errors:\n  ${problems.join('\n  ')}`;

/** A patch whose `test` fails changes nothing. */
async function patched(current: JsonObject, value: unknown, context: MutationContext): Promise<ApiObject> {
  const { attributes, form, types } = context;
  const next = applied(current, toJsonPatch(value));
  if (next === undefined) return attributes.object;
  if (!isObject(next)) throw internalError('a JSON patch must leave an object');
  refuseOtherType(next, form);
  try {
    return await fromMatchedForm(attributes, form, { value: next, types, onUnknown: refuseUnknown });
  } catch (error) {
    throw error instanceof StatusError ? error : internalError(errorText(error), error);
  }
}

/** An object of a built-in type must go on being one of it; of a custom resource, the type that is written does not count. */
function refuseOtherType(next: JsonObject, { served, kind }: MatchedForm): void {
  if (served.definition.custom !== undefined) return;
  const own = { kind: kind.kind, apiVersion: toApiVersion(kind) };
  const is = { kind: next.kind || own.kind, apiVersion: next.apiVersion || own.apiVersion };
  if (is.kind === own.kind && is.apiVersion === own.apiVersion) return;
  const [named, version] = [is.kind, is.apiVersion].map((value) => JSON.stringify(value));
  throw internalError(`no kind ${named} is registered for version ${version} here`);
}

/** Undefined: a test failed. */
function applied(current: JsonObject, operations: readonly JsonValue[]): JsonValue | undefined {
  try {
    return applyJsonPatch(current, [...operations]);
  } catch (error) {
    if (error instanceof TestFailed) return undefined;
    throw new Error(`JSON Patch: ${errorText(error)}`, { cause: error });
  }
}

function refuseUnknown(paths: readonly string[]): never {
  const fields = paths.map((path) => `unknown field ${JSON.stringify(path)}`);
  throw internalError(`strict decoding error: ${fields.join(', ')}`);
}

/** What metrics call the reason of a failure. */
export function mutationErrorType(error: unknown): PolicyErrorType {
  const text = errorText(error);
  if (text.startsWith('compilation')) return 'compile_error';
  return text.startsWith('validation failed due to running out of cost budget')
    ? 'out_of_budget'
    : 'invalid_error';
}
