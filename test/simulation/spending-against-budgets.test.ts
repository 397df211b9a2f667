import { describeSpending } from './budgets/describe-spending.ts';

// 10,000 are in test/long/many-budgets.test.ts.
describeSpending(2_000);
