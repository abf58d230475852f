"""Facts that tests share: tools of public servers, with questions that they answer."""
