import type { Bindings } from '../cel/policies/compiler.ts';
import type { Compiled } from '../cel/program.ts';
import { BudgetError, Evaluation, type Outcome } from './policies/evaluation.ts';
import type { Rights } from './policies/rights.ts';

/** An expression that must hold for a webhook or a policy to be asked. */
export interface Condition {
  readonly name: string;
  readonly check: Compiled;
}

/** Whether all conditions hold, or why that is unknown. */
type ConditionsAnswer = { readonly matches: boolean } | { readonly why: string };

/** For metrics. */
export interface ConditionsReport {
  failed(): void;
  took(ms: number): void;
}

interface ConditionsCall {
  readonly given: Bindings;
  readonly rights: Rights;
  readonly report: ConditionsReport;
  /** Of a policy. */
  readonly variables?: ReadonlyMap<string, Compiled>;
}

/** Budget for all conditions together (Kubernetes: apis/cel, RuntimeCELCostBudgetMatchConditions). */
const BUDGET = 2_500_000;
const NO_VARIABLES: ReadonlyMap<string, Compiled> = new Map();

/** One false condition decides, even if others failed (Kubernetes: admission/plugin/webhook/matchconditions, Match). */
export async function evaluateConditions(
  conditions: readonly Condition[],
  { given, rights, report, variables = NO_VARIABLES }: ConditionsCall,
): Promise<ConditionsAnswer> {
  const begun = performance.now();
  const answer = await evaluate(
    conditions,
    new Evaluation(given, variables, { rights, budget: BUDGET }),
    report,
  );
  // Conditions that all hold are not timed.
  if (!('matches' in answer) || !answer.matches) report.took(performance.now() - begun);
  return answer;
}

async function evaluate(
  conditions: readonly Condition[],
  evaluation: Evaluation,
  report: ConditionsReport,
): Promise<ConditionsAnswer> {
  const outcomes: Outcome[] = [];
  try {
    for (const { check } of conditions) outcomes.push(await evaluation.run(check));
  } catch (error) {
    if (error instanceof BudgetError) return { why: error.message };
    throw error;
  }
  const errors = new Set<string>();
  for (const outcome of outcomes) {
    if ('error' in outcome) {
      errors.add(outcome.error);
      report.failed();
    } else if (outcome.value === false) return { matches: false };
  }
  if (errors.size === 0) return { matches: true };
  const [first = ''] = errors;
  return { why: errors.size === 1 ? first : `[${[...errors].join(', ')}]` };
}
