import {
  type AddToPrincipalPolicyResult,
  PolicyDocument,
  type PolicyStatement,
  Role,
  type ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

/**
 * A role for an AWS service with its statements inline. The CDK's `Role` puts statements into a separate policy,
 * which counts against the stack's limit of resources.
 */
export class InlineRole extends Role {
  private readonly access: PolicyDocument;

  constructor(scope: Construct, id: string, assumedBy: ServicePrincipal) {
    const access = new PolicyDocument();
    super(scope, id, { assumedBy, inlinePolicies: { Access: access } });
    this.access = access;
  }

  /** The way of every grant of the CDK, too. */
  override addToPrincipalPolicy(statement: PolicyStatement): AddToPrincipalPolicyResult {
    this.access.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}
