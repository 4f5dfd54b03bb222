import { firstOf, type Rule } from '../past.ts';
import { tied } from './cluster-causes.ts';
import { becauseOfNode, deletionAsked, deletionGoesOn, ownerForgotten } from './deletion-causes.ts';
import { namedByAnother } from './reference-causes.ts';
import { answersObject, generationObserved, placed, reportedByNode, summedUp } from './status-causes.ts';
import { ownerAnswered } from './workload-causes.ts';

/** What a controller's write most likely answers. Certain rules are tried first, and the order of writes alone last. */
export const ruleOfAll: Rule = firstOf(
  deletionGoesOn,
  ownerForgotten,
  deletionAsked,
  generationObserved,
  tied,
  becauseOfNode,
  placed,
  reportedByNode,
  summedUp,
  ownerAnswered,
  namedByAnother,
  answersObject,
);
