import type { Ask, AuthorizerAnswer, Question } from '../../cel/libraries/authorizer.ts';
import type { UserInfo } from '../../request/api-request.ts';

/** Who may do what, for expressions that ask. */
export interface RightsOracle {
  decide(user: UserInfo, question: Question): Promise<AuthorizerAnswer>;
}

/**
 * Answers to what the expressions of one request ask. Expressions never wait: one that asks something new stops, and runs anew
 * when the answer is there. Each run gets at least one answer further.
 */
export class Rights {
  readonly #oracle: RightsOracle;
  readonly #user: UserInfo;
  readonly #answers = new Map<string, AuthorizerAnswer>();
  readonly #asked = new Map<string, Question>();

  constructor(oracle: RightsOracle, user: UserInfo) {
    this.#oracle = oracle;
    this.#user = user;
  }

  /** Fails, and is then open. */
  readonly ask: Ask = (question) => {
    const key = JSON.stringify(question);
    const answer = this.#answers.get(key);
    if (answer !== undefined) return answer;
    this.#asked.set(key, question);
    throw new Error('the authorizer has not answered yet');
  };

  get open(): boolean {
    return this.#asked.size > 0;
  }

  async settle(): Promise<void> {
    for (const [key, question] of this.#asked)
      this.#answers.set(key, await this.#oracle.decide(this.#askerOf(question), question));
    this.#asked.clear();
  }

  #askerOf({ serviceAccount }: Question): UserInfo {
    if (serviceAccount === undefined) return this.#user;
    const { namespace, name } = serviceAccount;
    return {
      username: `system:serviceaccount:${namespace}:${name}`,
      uid: '',
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
      extra: {},
    };
  }
}
