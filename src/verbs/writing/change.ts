import type { ApiObject } from '../../api/object-meta.ts';
import type { ViewSubresource } from '../../registry/definition.ts';
import type { Strategy } from '../../registry/strategy.ts';

/**
 * How an update gets from the old object to the new one. The kind says what is written, and so which rules hold for it:
 *
 * - `object`: a whole object, as a client wants it. All rules of its resource hold: defaults, allocated values, preparation,
 *   validation.
 * - `view`: what a subresource such as status shows of the object. The view says what it may change, and validates it.
 * - `state`: what the server itself has found out, such as how much of a quota is used. It is stored as it is.
 *
 * Whatever the kind, plugins are asked, and the result must be a valid object of its resource.
 */
export type Change = ObjectChange | ViewChange | StateChange;

interface ChangeBase {
  /**
   * Gets a copy of the stored object, resourceVersion included, that it may change and return. Called again with a newer one
   * after a conflict. A resourceVersion in what it returns is a precondition.
   */
  apply(copy: ApiObject): ApiObject | Promise<ApiObject>;
  /**
   * What another uid in the object that `apply` returns means: `precondition`, that another object is meant, which is a
   * conflict; `field`, that a field changes which cannot be changed, which is invalid. A precondition where it is left out.
   */
  readonly uidIs?: 'precondition' | 'field';
  /** `apply` does not change its copy, nor does anyone change the parts of it that are in what it returns: none need be made. */
  readonly leavesCopy?: boolean;
}

export interface ObjectChange extends ChangeBase {
  readonly kind: 'object';
  /** What to create when there is no object (server-side apply, create on update). */
  create?(): ApiObject | Promise<ApiObject>;
}

export interface ViewChange extends ChangeBase {
  readonly kind: 'view';
  readonly view: ViewSubresource;
}

export interface StateChange extends ChangeBase {
  readonly kind: 'state';
}

/** Those rules of a resource that hold for some kinds of changes only. */
export type UpdateRules = Pick<Strategy, 'defaults' | 'assigned' | 'prepareForUpdate' | 'validateUpdate'>;

const NO_RULES: UpdateRules = {};

export function rulesOf(change: Change, strategy: Strategy): UpdateRules {
  switch (change.kind) {
    case 'object':
      return strategy;
    case 'view': {
      const { view } = change;
      return { validateUpdate: (object, old) => view.validate?.(object, old) ?? [] };
    }
    case 'state':
      return NO_RULES;
    default:
      return change satisfies never;
  }
}
