import type { UserInfo } from '../request/api-request.ts';

/** A right that a plugin asks about, beside the one to make the request itself. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface Access {
  /** Why the user does not have the right, which may be for no given reason: ''. Undefined: it is theirs. */
  whyNot(user: UserInfo, right: Right): Promise<string | undefined>;
}
