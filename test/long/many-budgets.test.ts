import { describeSpending } from '../simulation/budgets/describe-spending.ts';

describeSpending(10_000);
