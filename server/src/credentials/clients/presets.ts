/** The providers that Inlay knows, one file each. */
import type { OAuthPreset } from '@inlay/contract/credentials/oauth-providers';
import airtable from '../presets/airtable.json' with { type: 'json' };
import asana from '../presets/asana.json' with { type: 'json' };
import atlassian from '../presets/atlassian.json' with { type: 'json' };
import dropbox from '../presets/dropbox.json' with { type: 'json' };
import github from '../presets/github.json' with { type: 'json' };
import gitlab from '../presets/gitlab.json' with { type: 'json' };
import google from '../presets/google.json' with { type: 'json' };
import hubspot from '../presets/hubspot.json' with { type: 'json' };
import intercom from '../presets/intercom.json' with { type: 'json' };
import linear from '../presets/linear.json' with { type: 'json' };
import mailchimp from '../presets/mailchimp.json' with { type: 'json' };
import microsoft from '../presets/microsoft.json' with { type: 'json' };
import notion from '../presets/notion.json' with { type: 'json' };
import quickbooks from '../presets/quickbooks.json' with { type: 'json' };
import salesforce from '../presets/salesforce.json' with { type: 'json' };
import shopify from '../presets/shopify.json' with { type: 'json' };
import slack from '../presets/slack.json' with { type: 'json' };
import slackUser from '../presets/slack-user.json' with { type: 'json' };
import stripe from '../presets/stripe.json' with { type: 'json' };
import xero from '../presets/xero.json' with { type: 'json' };
import zendesk from '../presets/zendesk.json' with { type: 'json' };

export const presets = {
  airtable,
  asana,
  atlassian,
  dropbox,
  github,
  gitlab,
  google,
  hubspot,
  intercom,
  linear,
  mailchimp,
  microsoft,
  notion,
  quickbooks,
  salesforce,
  shopify,
  slack,
  slack_user: slackUser,
  stripe,
  xero,
  zendesk,
} as Readonly<Record<string, OAuthPreset>>;
