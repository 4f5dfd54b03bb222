import type { JsonValue } from '../api/object-meta.ts';
import { type Action, JsonPathError, parseTemplate } from './json-path-syntax.ts';
import { type JsonPathBudget, JsonPathWalk } from './json-path-walk.ts';

export { JsonPathError } from './json-path-syntax.ts';
export { JsonPathBudget } from './json-path-walk.ts';

/**
 * JSONPath as client-go reads it (util/jsonpath) when keys may be missing.
 *
 *   parseJsonPath('.status.conditions[?(@.type=="Ready")].status').find(object)   → ['True']
 *   parseJsonPath('.spec.none').find(object)                                      → []
 */
export class JsonPath {
  readonly #actions: readonly Action[];

  constructor(actions: readonly Action[]) {
    this.#actions = actions;
  }

  /**
   * Returns the selected values. Loops (`range`) of templates are an error.
   * @throws JsonPathError when the path does not fit the value, or exceeds the budget
   */
  find(root: JsonValue, budget?: JsonPathBudget): readonly JsonValue[] {
    const walk = new JsonPathWalk(root, budget);
    // All actions run, because an error in any of them is an error of the path.
    const [first = []] = this.#actions.map((action) => walk.run(action));
    return first;
  }
}

/** `text`: without enclosing braces. @throws JsonPathError */
export const parseJsonPath = (text: string): JsonPath => new JsonPath(parseTemplate(`{${text}}`));

/** Undefined: the path is invalid. */
export function readJsonPath(text: string): JsonPath | undefined {
  try {
    return parseJsonPath(text);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}
