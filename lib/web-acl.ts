import { Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

/** The API behind the firewall, and the most calls of one address in 5 min. */
export interface WebAclProps {
  api: RestApi;
  requestsPer5Minutes: number;
}

/**
 * Rules of the common group that only count matches, because the API breaks them by design. It takes bodies
 * up to 256 KiB, prompts with any text, bodies with URLs, and callbacks without a user agent.
 */
const COUNTED_COMMON_RULES = [
  'SizeRestrictions_BODY',
  'CrossSiteScripting_BODY',
  'GenericLFI_BODY',
  'GenericRFI_BODY',
  'EC2MetaDataSSRF_BODY',
  'NoUserAgent_HEADER',
];

/** A web application firewall in front of the API: AWS's common rules and IP reputation list, and a limit by address. */
export class WebAcl extends Construct {
  constructor(scope: Construct, id: string, { api, requestsPer5Minutes }: WebAclProps) {
    super(scope, id);
    const seen = (metricName: string) => ({
      metricName: `${Stack.of(this).stackName}-${metricName}`,
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: false,
    });
    const managed = (
      priority: number,
      name: string,
      counted: readonly string[] = [],
    ): CfnWebACL.RuleProperty => ({
      name,
      priority,
      overrideAction: { none: {} },
      visibilityConfig: seen(name),
      statement: {
        managedRuleGroupStatement: {
          vendorName: 'AWS',
          name,
          ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
        },
      },
    });
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: seen('WebAcl'),
      rules: [
        {
          name: 'RateByAddress',
          priority: 0,
          action: { block: {} },
          visibilityConfig: seen('RateByAddress'),
          statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: requestsPer5Minutes } },
        },
        managed(1, 'AWSManagedRulesAmazonIpReputationList'),
        managed(2, 'AWSManagedRulesCommonRuleSet', COUNTED_COMMON_RULES),
      ],
    });
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: api.deploymentStage.stageArn,
      webAclArn: acl.attrArn,
    });
  }
}
