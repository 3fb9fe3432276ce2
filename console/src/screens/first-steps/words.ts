export const words = {
  title: 'Get started',
  lead: 'Sync a customer’s first rows, all in this browser.',
  hide: 'Hide',
  show: 'Show the setup guide',
  done: 'done',
  steps: {
    destination: {
      title: 'Choose where data goes',
      text: 'Pick a destination and create a connection template. Every customer’s sources sync to it.',
    },
    source: {
      title: 'Offer a source',
      text: 'Pick a connector and create a source template. Customers see it in the widget. Sample Data needs no account.',
    },
    customer: {
      title: 'Add a customer',
      text: 'Later, your backend adds customers by requesting widget tokens. Any name works for a first try.',
    },
    connect: {
      title: 'Connect a source as this customer',
      text: 'Open the widget in a new tab, as your customers will see it, and connect the source.',
    },
    rows: {
      title: 'See the first rows arrive',
      text: 'The first sync starts automatically. This guide closes when rows have arrived.',
    },
  },
  chooseDestination: 'Choose destination',
  chooseSource: 'Choose source',
  seeJobs: 'View jobs',
  addCustomer: 'Add customer',
  addText: 'Your backend uses the customer’s name to request tokens.',
  customerName: 'Name',
  nameHint: 'For example, acme-inc.',
  added: (name: string) => `Added ${name}`,
  openWidget: 'Open widget',
  openText: (name: string) =>
    `Creates a link that opens the widget as ${name}. Anyone with the link can connect and remove this customer’s sources for one hour.`,
  makeLink: 'Create link',
  linkText: 'The link opens the widget in a new tab and works for one hour. Don’t share it.',
  openAs: (name: string) => `Open widget as ${name}`,
  copyLink: 'Copy link',
  toCustomer: 'View customer',
};
